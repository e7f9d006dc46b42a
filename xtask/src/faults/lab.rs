//! The commands that are tried, and the data for them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use margins::data::Dataset;
use margins::data::generate::{Example, GaussianMixture};
use tempfile::TempDir;

use super::process;
use crate::{Failure, files};

/// The names of the inputs.
const INPUTS: [&str; 4] = ["small.csv", "large.csv", "wide.csv", "model.bin"];

/// A folder with inputs, and the programs.
pub(super) struct Lab {
    margins: PathBuf,
    xtask: PathBuf,
    folder: TempDir,
}

impl Lab {
    /// Makes the inputs.
    pub(super) fn new(margins: &Path) -> Result<Self, Failure> {
        let margins = margins.canonicalize().map_err(files::naming(margins))?;
        let lab = Lab { margins, xtask: std::env::current_exe()?, folder: tempfile::tempdir()? };
        open_to_all(lab.folder.path())?;
        let narrow = GaussianMixture::example(Example::One, 1)?;
        let wide = GaussianMixture::example(Example::Three { p: 30 }, 1)?;
        let inputs = [
            ("small.csv", &narrow, 400),
            ("large.csv", &narrow, 60_000),
            ("wide.csv", &wide, 100_000),
        ];
        for (name, mixture, rows) in inputs {
            let data = mixture.sample(rows, 2)?;
            files::write(&lab.input(name), &csv(&data))?;
        }
        let model = lab.input("model.bin");
        let mut fit = lab.margins(&["fit", "--data", "small.csv", "--kernel", "gaussian:sigma=1"]);
        fit.current_dir(lab.folder.path()).args(["--lambda", "0.01", "--out"]).arg(&model);
        let ended = process::run(&mut fit)?;
        if ended.code() != Some(0) {
            return Err(format!("the first fit failed: {}", ended.describe()).into());
        }
        Ok(lab)
    }

    /// Returns the folder of the inputs.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of an input.
    pub(super) fn input(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a new folder, in which the inputs have the names that they have here.
    pub(super) fn new_folder(&self) -> Result<TempDir, Failure> {
        let folder = tempfile::tempdir_in(self.folder.path())?;
        open_to_all(folder.path())?;
        Ok(folder)
    }

    /// Returns a command of ours; arguments that are names of inputs become their paths.
    pub(super) fn margins(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.margins);
        for argument in arguments {
            let is_input = INPUTS.contains(argument);
            if is_input {
                command.arg(self.input(argument))
            } else {
                command.arg(argument)
            };
        }
        command
    }

    /// Returns the command of a short experiment.
    pub(super) fn experiment(&self, out: &str) -> Command {
        let mut command = Command::new(&self.xtask);
        command.args([
            "experiment",
            "lhs-table1",
            "--only",
            "example1-50-linear",
            "--trials",
            "60",
        ]);
        command.args(["--out", out]);
        command
    }
}

/// Lets every user look into a folder: some commands run as nobody.
fn open_to_all(folder: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder, open).map_err(files::naming(folder))
}

/// Returns data as a table with names of columns, the labels in the last one.
fn csv(data: &Dataset) -> String {
    let mut text: String = (1..=data.columns()).map(|column| format!("x{column},")).collect();
    text += "label\n";
    for (sample, sign) in data.design().samples().zip(data.labels().signs()) {
        sample.for_each(|_, value| {
            let _ = write!(text, "{value},");
        });
        let _ = writeln!(text, "{sign}");
    }
    text
}
