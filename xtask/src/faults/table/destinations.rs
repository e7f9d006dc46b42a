//! Names that lead elsewhere: links, mounts, streams, files of other users.

use std::path::Path;
use std::process::Command;

use super::writers::{AS_NOBODY, is_root};
use crate::faults::expected::{Seen, without};
use crate::faults::lab::Lab;
use crate::faults::process::run;
use crate::{Failure, files};

/// A script that writes a model to a name: `margins` fits, also as nobody.
struct Destination {
    fault: &'static str,
    shown: &'static str,
    script: &'static str,
    /// What the message of a refusal contains; `None` where the model must be written.
    refusal: Option<&'static str>,
}

/// The exit status of a script that the system does not let begin.
const NOT_TRIED: i32 = 77;

const DESTINATIONS: [Destination; 10] = [
    Destination {
        fault: "a read-only file",
        shown: "--out m.bin",
        script: "echo old > m.bin; chmod 444 m.bin; margins m.bin; code=$?; grep -qx old m.bin && exit $code",
        refusal: Some("m.bin: cannot be written: the file is read-only"),
    },
    Destination {
        fault: "a file of another user",
        shown: "--out m.bin",
        script: "test \"$nobody\" || exit 77; echo old > m.bin; chmod 644 m.bin; as=\"$nobody\" margins m.bin; code=$?; grep -qx old m.bin && exit $code",
        refusal: Some("m.bin: cannot be written: Permission denied"),
    },
    Destination {
        fault: "a writable file in a read-only folder",
        shown: "--out m.bin",
        script: "test \"$nobody\" || exit 77; echo old > m.bin; chmod 666 m.bin; as=\"$nobody\" margins m.bin && ! grep -qx old m.bin",
        refusal: None,
    },
    Destination {
        fault: "a name that is not UTF-8",
        shown: "--out $(printf 'm\\351.bin')",
        script: "name=$(printf 'm\\351.bin'); margins \"$name\" && test -s \"$name\"",
        refusal: None,
    },
    Destination {
        fault: "a link to no file",
        shown: "--out link",
        script: "ln -s m.json link; margins link && test -L link && test -s m.json",
        refusal: None,
    },
    Destination {
        fault: "a link into no folder",
        shown: "--out link",
        script: "ln -s absent/m.bin link; margins link",
        refusal: Some("link: cannot be written: there is no folder './absent'"),
    },
    Destination {
        fault: "a file with another one mounted on it",
        shown: "--out m.bin",
        script: "echo old > m.bin; echo old > other.bin; mount --bind other.bin m.bin || exit 77; \
                 margins m.bin; code=$?; umount m.bin; ! grep -qx old other.bin && exit $code",
        refusal: None,
    },
    Destination {
        fault: "a stream that leads to a file",
        shown: "--out /dev/stdout > m.json",
        script: "margins /dev/stdout > m.json && grep -q '^{' m.json",
        refusal: None,
    },
    Destination {
        fault: "a stream that leads to a file",
        shown: "--out /dev/fd/3 3>> m.json",
        script: "echo before > m.json; margins /dev/fd/3 3>> m.json && \
                 test \"$(head -c 8 m.json | tr '\\n' ' ')\" = 'before {'",
        refusal: None,
    },
    Destination {
        fault: "a stream that leads to a file",
        shown: "--checkpoint /dev/stdout > grid.json",
        script: "margins m.bin --checkpoint /dev/stdout > grid.json",
        refusal: Some("/dev/stdout: a checkpoint must be a regular file"),
    },
];

/// Writes a model to each of them.
pub(super) fn all(lab: &Lab) -> Result<Vec<Seen>, Failure> {
    let mut blocks = lab.margins(&["blocks", "--data", "small.csv", "--out"]);
    let rows = lab.folder().join("small.blocks");
    let ended = run(blocks.arg(&rows))?;
    if ended.code() != Some(0) {
        return Err(format!("the block file failed: {}", ended.describe()).into());
    }
    DESTINATIONS.iter().map(|destination| destination.try_it(lab, &rows)).collect()
}

impl Destination {
    fn try_it(&self, lab: &Lab, rows: &Path) -> Result<Seen, Failure> {
        let Destination { fault, shown, script, refusal } = self;
        let folder = lab.new_folder()?;
        let program = lab.margins(&[]).get_program().to_owned();
        let functions = "as=; margins() { $as \"$program\" fit --data \"$rows\" --lambda 0.1 --quiet --out \"$@\"; }; ";
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{functions}{script}")]).current_dir(folder.path());
        command.env("program", program).env("rows", rows);
        if is_root()? {
            command.env("nobody", AS_NOBODY.join(" "));
        }
        let ended = run(&mut command)?;
        let seen = without(&ended.describe(), folder.path());
        let holds = match (ended.code(), refusal) {
            (Some(NOT_TRIED), _) => {
                return Ok(Seen::new(
                    fault,
                    format!("margins fit {shown}"),
                    "not tried: it needs root",
                    true,
                ));
            }
            (Some(code), Some(refusal)) => code == 1 && ended.words.contains(refusal),
            (code, None) => code == Some(0),
            (None, _) => false,
        };
        let leftovers = std::fs::read_dir(folder.path()).map_err(files::naming(folder.path()))?;
        let is_partial = |name: std::ffi::OsString| name.to_string_lossy().ends_with(".partial");
        let clean = leftovers.flatten().all(|entry| !is_partial(entry.file_name()));
        Ok(Seen::new(fault, format!("margins fit {shown}"), seen, holds && clean))
    }
}
