//! Amounts of memory: parsing, display, and how much is free under the limits of the system.

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

/// An amount of memory.
///
/// ```
/// use margins_data::Memory;
///
/// let memory: Memory = "1.5GB".parse()?;
/// assert_eq!(memory.bytes(), 1_500_000_000);
/// assert_eq!(memory.to_string(), "1.5 GB");
/// assert_eq!("2GiB".parse::<Memory>()?.bytes(), 2 << 30);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Memory(usize);

/// The units, the longer names first where one ends in another.
const UNITS: [(&str, f64); 9] = [
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("B", 1.0),
];

impl Memory {
    /// Returns the amount of this many bytes.
    pub const fn from_bytes(bytes: usize) -> Self {
        Memory(bytes)
    }

    /// Returns the number of bytes.
    pub const fn bytes(self) -> usize {
        self.0
    }

    /// Returns the amount in gigabytes (1e9 bytes).
    pub fn gigabytes(self) -> f64 {
        1e-9 * self.0 as f64
    }

    /// Returns half of the amount.
    #[must_use]
    pub const fn half(self) -> Self {
        Memory(self.0 / 2)
    }

    /// Returns the limit of address space of this process (`ulimit -v`), if there is one.
    pub fn address_space() -> Option<Self> {
        address_space(&fs::read_to_string("/proc/self/limits").ok()?).map(Memory)
    }

    /// Returns the memory that this process can still have: what the system has available, or less
    /// where a limit allows less. Limits are those of the control groups that the process is in, of
    /// version 1 or 2, as containers, systemd and Slurm set them, and that of address space (`ulimit
    /// -v`). `None` where the system does not say, as outside Linux.
    pub fn free() -> Option<Self> {
        let system = fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let group = room_in_groups(Path::new("/sys/fs/cgroup"), &groups);
        let addresses = Memory::address_space().map(|most| {
            let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
            most.bytes().saturating_sub(kibibytes(&status, "VmSize:").unwrap_or(0))
        });
        system.into_iter().chain(group).chain(addresses).min().map(Memory)
    }
}

/// Returns the number of bytes that are available by the text of `/proc/meminfo`.
fn available(text: &str) -> Option<usize> {
    kibibytes(text, "MemAvailable:")
}

/// Returns the number of bytes in the line of this name.
fn kibibytes(text: &str, name: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Returns what the control groups of a process leave it, by the text of `/proc/self/cgroup`: the least of
/// what the groups and those that they are in have left. Pages of files that the system gives back when
/// memory is short do not count as used. Within a container the root is its own group, whatever the text
/// names.
fn room_in_groups(root: &Path, text: &str) -> Option<usize> {
    let lines = text.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let (root, files) = if controllers.is_empty() {
            (root.to_owned(), ["memory.max", "memory.current", "inactive_file "])
        } else if controllers.split(',').any(|controller| controller == "memory") {
            let files = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "];
            (root.join("memory"), files)
        } else {
            return None;
        };
        Some((root, Path::new(path.trim_start_matches('/')), files))
    });
    let rooms = lines.flat_map(|(root, path, [limit, used, reclaimable])| {
        path.ancestors()
            .filter_map(|group| {
                let folder = root.join(group);
                let text = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
                let number = |text: &str| text.trim().parse::<usize>().ok();
                let statistics = text("memory.stat");
                let given_back = statistics.lines().find_map(|line| line.strip_prefix(reclaimable));
                let pages = given_back.and_then(number).unwrap_or(0);
                let used = number(&text(used)).unwrap_or(0).saturating_sub(pages);
                Some(number(&text(limit))?.saturating_sub(used))
            })
            .collect::<Vec<usize>>()
    });
    rooms.min()
}

/// Returns the limit of address space, by the text of `/proc/self/limits`, if there is one.
fn address_space(text: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

impl FromStr for Memory {
    type Err = String;

    /// Reads a number with a unit: `500MB`, `1.5GB`, `2GiB` or `4096B`.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.parse::<f64>().is_ok_and(|number| number > 0.0 && number.is_finite()) {
            return Err(format!("'{text}' has no unit: write {text}MB or {text}GB"));
        }
        let named = UNITS.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size)));
        let (number, size) = named.unwrap_or((text, f64::NAN));
        let bytes = number.trim().parse::<f64>().map(|number| number * size);
        match bytes {
            Ok(bytes) if bytes >= 1.0 && bytes <= usize::MAX as f64 => Ok(Memory(bytes as usize)),
            _ => Err(format!(
                "'{text}' is no amount of memory: give a positive number with a unit, as in 500MB, 2GB or 1.5GiB"
            )),
        }
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        let (unit, size) = match bytes {
            bytes if bytes >= 1e9 => ("GB", 1e9),
            bytes if bytes >= 1e6 => ("MB", 1e6),
            bytes if bytes >= 1e3 => ("kB", 1e3),
            _ => ("B", 1.0),
        };
        let rounded = (10.0 * bytes / size).round() / 10.0;
        write!(f, "{rounded} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_with_their_units() {
        let bytes = |text: &str| text.parse::<Memory>().map(Memory::bytes);
        for (text, expected) in [
            ("7B", 7),
            ("2kB", 2000),
            ("0.5 MB", 500_000),
            ("3GB", 3_000_000_000),
            ("1KiB", 1024),
            ("1.5GiB", 3 << 29),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "GB", "-1GB", "0", "1e400", "nan", "2 gigs", "inf", "0B"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert_eq!(bytes(" 5 "), Err("'5' has no unit: write 5MB or 5GB".to_owned()));
    }

    #[test]
    fn an_amount_is_shown_in_the_largest_unit_that_it_fills() {
        for (bytes, shown) in
            [(999, "999 B"), (1500, "1.5 kB"), (2_000_000, "2 MB"), (80_000_000_000, "80 GB")]
        {
            assert_eq!(Memory::from_bytes(bytes).to_string(), shown);
        }
    }

    #[test]
    fn available_memory_is_read_from_the_system() {
        let text = "MemTotal:  100 kB\nMemFree: 3 kB\nMemAvailable:   20 kB\n";
        assert_eq!(available(text), Some(20 * 1024));
        assert_eq!(available("MemTotal: 100 kB"), None);
        let limits = "Max processes  9 9 processes\nMax address space  5000  unlimited  bytes\n";
        assert_eq!(address_space(limits), Some(5000));
        assert_eq!(address_space(&limits.replace("5000", "unlimited")), None);
    }

    /// A group of systemd in one that has less left, version 1 beside version 2, and a container that
    /// sees its own group as the root.
    #[test]
    fn limits_of_groups_are_found_where_the_process_is() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |group: &str, files: [(&str, &str); 2]| {
            let folder = root.path().join(group);
            fs::create_dir_all(&folder).expect("a folder");
            for (name, text) in files {
                fs::write(folder.join(name), text).expect("a file");
            }
        };
        let room = |text: &str| room_in_groups(root.path(), text);
        assert_eq!(room("0::/user.slice/job.scope\n"), None);
        write("user.slice", [("memory.max", "900\n"), ("memory.current", "500\n")]);
        write("user.slice/job.scope", [("memory.max", "max\n"), ("memory.current", "100\n")]);
        assert_eq!(room("0::/user.slice/job.scope\n"), Some(400));
        write("user.slice/job.scope", [("memory.max", "350\n"), ("memory.current", "100\n")]);
        assert_eq!(room("0::/user.slice/job.scope\n"), Some(250));
        let statistics = "anon 30\ninactive_file 60\nactive_file 10\n";
        fs::write(root.path().join("user.slice/job.scope/memory.stat"), statistics)
            .expect("a file");
        assert_eq!(room("0::/user.slice/job.scope\n"), Some(310));
        assert_eq!(room("0::/other\n"), None);
        let first = [("memory.limit_in_bytes", "70\n"), ("memory.usage_in_bytes", "9\n")];
        write("memory/slurm/job_1", first);
        let version_1 = "7:cpu,cpuacct:/slurm\n4:memory:/slurm/job_1/step_0\n";
        assert_eq!(room(version_1), Some(61));
        write("memory", [("memory.limit_in_bytes", "50\n"), ("memory.usage_in_bytes", "0\n")]);
        assert_eq!(room("4:memory:/docker/abc\n"), Some(50));
    }
}
