//! Every way to write, where nothing can be written.

use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::faults::expected::Seen;
use crate::faults::lab::Lab;
use crate::faults::process::run;
use crate::{Failure, files};

/// A command that writes a file into a folder.
struct Writer {
    shown: &'static str,
    file: &'static str,
    command: Command,
}

/// Returns the commands that write files into a folder.
fn writers(lab: &Lab, folder: &Path) -> Vec<Writer> {
    let path = |name: &str| folder.join(name).display().to_string();
    let fit = ["fit", "--data", "small.csv", "--lambda", "0.1"];
    let cv = ["cv", "--data", "small.csv", "--lambdas", "1:0.1:2"];
    let focus = ["focus", "--data", "small.csv", "--max-steps", "1000"];
    let writer = |shown, start: &[&str], option: &str, file: &'static str| Writer {
        shown,
        file,
        command: lab.margins(&[start, &[option, &path(file)]].concat()),
    };
    vec![
        writer("margins fit --out", &fit, "--out", "model.bin"),
        writer("margins fit --report", &fit, "--report", "page.html"),
        writer("margins cv --checkpoint", &cv, "--checkpoint", "grid.json"),
        writer("margins focus --checkpoint", &focus, "--checkpoint", "game.json"),
        writer("margins blocks --out", &["blocks", "--data", "large.csv"], "--out", "rows.blocks"),
        Writer {
            shown: "xtask experiment",
            file: "lhs-table1.journal",
            command: lab.experiment(&folder.display().to_string()),
        },
    ]
}

/// Runs what the commands are turned into, each of which must name its file and leave the old one.
fn refuse_all(
    fault: &'static str,
    writers: Vec<Writer>,
    folder: &Path,
    old: &dyn Fn(&Path) -> bool,
    turn: &dyn Fn(Command) -> Command,
) -> Result<Vec<Seen>, Failure> {
    let row = |writer: Writer| {
        let ended = run(&mut turn(writer.command))?;
        let path = folder.join(writer.file);
        let name = path.display().to_string();
        let mut row = Seen::refused(fault, writer.shown, &ended, &name, folder);
        row.holds &= old(&path);
        Ok(row)
    };
    writers.into_iter().map(row).collect()
}

/// A small file system in memory, unmounted at the end.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts it, if this process may.
    fn mount(folder: &Path) -> Result<Option<Self>, Failure> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k,mode=755", "none"]).arg(folder);
        let ended = run(&mut mount)?;
        Ok((ended.code() == Some(0)).then(|| SmallDisk(folder.to_owned())))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.0).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            eprintln!("{} stays mounted", self.0.display());
        }
    }
}

/// The old files are smaller than what is to be written, and stay.
pub(super) fn full_disk(lab: &Lab) -> Result<Vec<Seen>, Failure> {
    const FAULT: &str = "a disk that is full";
    let folder = lab.new_folder()?;
    let Some(_disk) = SmallDisk::mount(folder.path())? else {
        return Ok(vec![Seen::new(FAULT, "mount -t tmpfs", "not tried: it may not mount", true)]);
    };
    let writers = writers(lab, folder.path());
    let outputs = ["model.bin", "page.html"];
    for name in outputs {
        let path = folder.path().join(name);
        std::fs::write(&path, "old").map_err(files::naming(&path))?;
    }
    let filler = folder.path().join("filler");
    let mut file = std::fs::File::create(&filler).map_err(files::naming(&filler))?;
    while file.write_all(&[0; 512]).is_ok() {}
    let stays = |path: &Path| match std::fs::read(path) {
        Ok(text) if outputs.iter().any(|name| path.ends_with(name)) => text == b"old",
        // A journal is made before its first line, and is empty then.
        Ok(text) => text.is_empty(),
        Err(_) => true,
    };
    refuse_all(FAULT, writers, folder.path(), &stays, &|command| command)
}

/// The command that runs another one without the privileges of root.
pub(super) const AS_NOBODY: [&str; 5] =
    ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];

/// Returns true if this process is root's.
pub(super) fn is_root() -> Result<bool, Failure> {
    let own = Path::new("/proc/self");
    Ok(std::fs::metadata(own).map_err(files::naming(own))?.uid() == 0)
}

/// Root may write everywhere, so that the commands run as nobody.
pub(super) fn read_only_folder(lab: &Lab) -> Result<Vec<Seen>, Failure> {
    let folder = lab.new_folder()?;
    let closed = std::fs::Permissions::from_mode(0o555);
    std::fs::set_permissions(folder.path(), closed).map_err(files::naming(folder.path()))?;
    let is_root = is_root()?;
    let as_nobody = |command: Command| {
        if !is_root {
            return command;
        }
        let mut nobody = Command::new(AS_NOBODY[0]);
        nobody.args(&AS_NOBODY[1..]);
        nobody.arg(command.get_program()).args(command.get_args());
        nobody
    };
    let none = |path: &Path| !path.exists();
    let writers = writers(lab, folder.path());
    refuse_all("a read-only folder", writers, folder.path(), &none, &as_nobody)
}

/// A file stands where the folder should be.
pub(super) fn no_folder(lab: &Lab) -> Result<Vec<Seen>, Failure> {
    let folder = lab.new_folder()?;
    let file = folder.path().join("file");
    std::fs::write(&file, "old").map_err(files::naming(&file))?;
    let stays = |_: &Path| std::fs::read(&file).is_ok_and(|text| text == b"old");
    let mut writers = writers(lab, &file);
    // The experiment would make the folder, and names it.
    let experiment = writers.pop();
    let mut rows =
        refuse_all("a file where the folder should be", writers, &file, &stays, &|command| {
            command
        })?;
    if let Some(mut writer) = experiment {
        let ended = run(&mut writer.command)?;
        let name = file.display().to_string();
        let fault = "a file where the folder should be";
        rows.push(Seen::refused(fault, writer.shown, &ended, &name, folder.path()));
    }
    Ok(rows)
}
