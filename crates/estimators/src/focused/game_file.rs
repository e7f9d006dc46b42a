//! The file of the states of games, which is there with the feature `serde` alone.

pub(super) use file::{GameFile, State};

#[cfg(feature = "serde")]
mod file {
    use margins_boost::Horizon;
    use margins_data::{ClassLabels, Dataset};
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::value::RawValue;

    use crate::Error;
    use crate::checkpoint::{CheckpointFile, Kind};
    use crate::focused::settings::EnsembleSettings;

    /// The checkpoint files of games.
    const GAME: Kind = Kind {
        format: "margins-fol-checkpoint",
        version: 2,
        job: "a game",
        method: "focused online learning",
    };

    /// The state of a game of any learner, as in a file.
    pub(in super::super) type State = Box<RawValue>;

    /// The file of the states of games, if there is one.
    pub(in super::super) struct GameFile<'a> {
        file: Option<CheckpointFile<'a>>,
        /// The step after which the games pause.
        pub(in super::super) pause_at: u64,
    }

    impl<'a> GameFile<'a> {
        /// Returns the file that the settings name.
        pub(in super::super) fn of<Y: ClassLabels>(
            settings: &'a EnsembleSettings,
            data: &Dataset<Y>,
            classes: Option<usize>,
            horizon: &Horizon,
        ) -> Self {
            let checkpoint = settings.checkpoint.as_ref();
            let file = checkpoint.map(|checkpoint| CheckpointFile {
                kind: &GAME,
                path: &checkpoint.path,
                settings: settings.describe(data, classes, horizon),
            });
            let pause_at = checkpoint.and_then(|checkpoint| checkpoint.pause_at);
            GameFile { file, pause_at: pause_at.unwrap_or(u64::MAX) }
        }

        /// Returns the states of the games in the file, none if there is no file.
        pub(in super::super) fn read(&self) -> Result<Vec<State>, Error> {
            let read = self.file.as_ref().map(CheckpointFile::read).transpose()?;
            Ok(read.flatten().unwrap_or_default())
        }

        /// Writes the states of the games to the file, if there is one.
        pub(in super::super) fn write(&self, games: &[State]) -> Result<(), Error> {
            self.file.as_ref().map_or(Ok(()), |file| file.write(&games))
        }

        /// Returns the state of a game in the form of the file, if there is one.
        pub(in super::super) fn encoded<T: Serialize>(
            &self,
            state: impl FnOnce() -> T,
        ) -> Result<Option<State>, Error> {
            self.file.as_ref().map(|file| file.encoded(&state())).transpose()
        }

        /// Returns the game of a state of the file.
        pub(in super::super) fn decoded<T: DeserializeOwned>(
            &self,
            state: Option<State>,
        ) -> Result<Option<T>, Error> {
            self.file.as_ref().zip(state).map(|(file, state)| file.decoded(&state)).transpose()
        }
    }
}

#[cfg(not(feature = "serde"))]
mod file {
    use std::marker::PhantomData;

    use margins_boost::Horizon;
    use margins_data::{ClassLabels, Dataset};
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use crate::Error;
    use crate::focused::settings::EnsembleSettings;

    pub(in super::super) type State = ();

    pub(in super::super) struct GameFile<'a> {
        pub(in super::super) pause_at: u64,
        settings: PhantomData<&'a EnsembleSettings>,
    }

    impl<'a> GameFile<'a> {
        pub(in super::super) fn of<Y: ClassLabels>(
            _: &'a EnsembleSettings,
            _: &Dataset<Y>,
            _: Option<usize>,
            _: &Horizon,
        ) -> Self {
            GameFile { pause_at: u64::MAX, settings: PhantomData }
        }

        pub(in super::super) fn read(&self) -> Result<Vec<State>, Error> {
            Ok(Vec::new())
        }

        pub(in super::super) fn write(&self, _: &[State]) -> Result<(), Error> {
            Ok(())
        }

        pub(in super::super) fn encoded<T: Serialize>(
            &self,
            _: impl FnOnce() -> T,
        ) -> Result<Option<State>, Error> {
            Ok(None)
        }

        pub(in super::super) fn decoded<T: DeserializeOwned>(
            &self,
            _: Option<State>,
        ) -> Result<Option<T>, Error> {
            Ok(None)
        }
    }
}
