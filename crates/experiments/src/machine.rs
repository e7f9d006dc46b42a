//! The day and the machine of a run, which are printed beside its results.

use std::time::{SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Returns the present day in UTC, as in `29 November 2026`.
pub fn today() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    day(now.as_secs() / 86_400)
}

/// Returns the day after so many days since 1 January 1970.
fn day(mut days: u64) -> String {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    format!("{} {} {year}", days + 1, MONTHS[month])
}

/// Returns the number of processors, and their name where `/proc/cpuinfo` has it.
pub fn name() -> String {
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("model name"));
    let name =
        line.and_then(|line| line.split_once(':')).map_or("unknown", |(_, name)| name.trim());
    format!("{count} cores of {name}")
}

#[cfg(test)]
mod tests {
    use super::day;

    /// The numbers are those of `date --date=... +%s`, over 86400.
    #[test]
    fn days_are_those_of_the_calendar() {
        let days = [0, 58, 59, 11_016, 11_017, 19_782, 19_783, 20_786, 47_541];
        let expected = [
            "1 January 1970",
            "28 February 1970",
            "1 March 1970",
            "29 February 2000",
            "1 March 2000",
            "29 February 2024",
            "1 March 2024",
            "29 November 2026",
            "1 March 2100",
        ];
        assert_eq!(days.map(day), expected);
    }
}
