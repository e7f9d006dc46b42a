//! Where files are written: through links, into what may be written, and nowhere else.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

use margins_data::blocks::{self, BlockSettings};
use margins_data::read::{self, Format, ReadOptions};
use margins_data::{AtomicFile, write_atomically};

fn write(path: impl AsRef<Path>, text: &str) -> std::io::Result<()> {
    write_atomically(path, |out| out.write_all(text.as_bytes()))
}

#[test]
fn a_link_is_followed_where_its_file_does_not_exist_yet() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("there")).unwrap();
    symlink("there/model", at("link")).unwrap();
    symlink("link", at("again")).unwrap();
    write(at("again"), "new").unwrap();
    assert_eq!(fs::read_to_string(at("there/model")).unwrap(), "new");
    assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
    symlink("gone/model", at("lost")).unwrap();
    assert_eq!(write(at("lost"), "new").unwrap_err().kind(), ErrorKind::NotFound);
    symlink("circle", at("circle")).unwrap();
    assert!(write(at("circle"), "new").is_err());
    assert!(fs::symlink_metadata(at("circle")).unwrap().is_symlink());
}

#[test]
fn a_read_only_file_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    for refused in [write(&path, "new").err(), AtomicFile::check(&path).err()] {
        assert_eq!(refused.unwrap().to_string(), "the file is read-only");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}

#[test]
fn a_check_leaves_everything_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    fs::write(&old, "old").unwrap();
    AtomicFile::check(&old).unwrap();
    AtomicFile::check(&new).unwrap();
    assert_eq!(fs::read_to_string(&old).unwrap(), "old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let kind = |path: &Path| AtomicFile::check(path).unwrap_err().kind();
    assert_eq!(kind(folder.path()), ErrorKind::IsADirectory);
    assert_eq!(kind(&folder.path().join("gone/new")), ErrorKind::NotFound);
}

/// Only a privileged process can have the file of another user, and it leaves it to that user.
#[test]
fn a_file_keeps_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    fs::write(&path, "old").unwrap();
    if chown(&path, Some(12_345), Some(54_321)).is_err() {
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: the owner of a file, which is for root to change"
        );
        return;
    }
    write(&path, "new").unwrap();
    let found = fs::metadata(&path).unwrap();
    assert_eq!((found.uid(), found.gid()), (12_345, 54_321));
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
}

/// `/dev/full` is a disk without room.
#[cfg(target_os = "linux")]
#[test]
fn a_block_file_without_room_is_named() {
    let text = "a,label\n1,no\n2,yes\n";
    let options = ReadOptions::default();
    let data = read::dataset_from(text.as_bytes(), "t", Format::Csv, &options).unwrap();
    let refused = blocks::write(&data, "/dev/full", BlockSettings::default()).unwrap_err();
    let message = refused.to_string();
    assert!(message.starts_with("/dev/full: cannot be written: No space left"), "{message}");
}
