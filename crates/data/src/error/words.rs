//! Words and lists in messages, so that all errors use the same phrases.

use std::fmt;

/// The advice where a table has a column too many.
pub(crate) const LABEL_ADVICE: &str = "; a column of labels has to be named (--label)";

/// Returns a list in words, such as "the columns are 'a', 'b' and 'c'".
pub(crate) fn columns_in_words(columns: &[String]) -> String {
    let known = Listed(columns);
    match columns {
        [only] if only.contains([';', '\t']) => {
            format!("the only column is {known}: cells must be separated by commas")
        }
        [_] => format!("the only column is {known}"),
        _ => format!("the columns are {known}"),
    }
}

/// Displays names in a message, a dozen at most: `'a', 'b', 'c'`, or `'a', 'b', ... and 88 more`.
///
/// ```
/// use margins_data::Listed;
///
/// assert_eq!(Listed(&["a", "b", "c"]).to_string(), "'a', 'b', 'c'");
/// let many: Vec<String> = (0..100).map(|k| k.to_string()).collect();
/// assert!(Listed(&many).to_string().ends_with("'10', '11' and 88 more"));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a, S>(pub &'a [S]);

impl<S: AsRef<str>> fmt::Display for Listed<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 12;
        for (k, name) in self.0.iter().take(MOST).enumerate() {
            let before = if k == 0 { "" } else { ", " };
            write!(f, "{before}{}", quoted(name.as_ref()))?;
        }
        match self.0.len().checked_sub(MOST) {
            Some(more @ 1..) => write!(f, " and {more} more"),
            _ => Ok(()),
        }
    }
}

/// Displays a number of things in a message: `1 row`, or `2 rows`.
///
/// ```
/// use margins_data::Counted;
///
/// assert_eq!([1, 2].map(|count| Counted(count, "row").to_string()), ["1 row", "2 rows"]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Counted<'a>(pub usize, pub &'a str);

impl fmt::Display for Counted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counted(count, thing) = self;
        write!(f, "{count} {thing}{}", if *count == 1 { "" } else { "s" })
    }
}

/// Returns a value in quotes for a message: escaped, and cut if long.
pub(crate) fn quoted(value: &str) -> String {
    const LONGEST: usize = 40;
    let start: String = value.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    let rest = if value.chars().nth(LONGEST).is_some() { "..." } else { "" };
    format!("'{start}{rest}'")
}

/// Returns the message for the first label that shows all of them to be measurements.
pub(crate) fn measurement(value: &str) -> String {
    format!(
        "the label '{value}' is not a whole number, and all labels are numbers, so they look like \
         measurements instead of classes. Name classes with letters, such as v1.2"
    )
}

pub(crate) fn third_class(value: &str, [first, second]: &[String; 2]) -> String {
    let [value, first, second] = [value, first, second].map(quoted);
    format!(
        "label {value} is a third class beside {first} and {second}, but exactly two are needed"
    )
}

/// Returns the message for a label that is not among the classes of a stream.
pub(crate) fn late_class(value: &str, count: usize) -> String {
    format!(
        "label {} is not among the {count} classes of the stream: these are the classes named, or else \
         those of the first rows; name all of them",
        quoted(value)
    )
}

pub(crate) fn missing_label(value: &str) -> String {
    format!("label '{value}' is a missing value; drop such rows first")
}

/// Returns what follows the number of rows of a table whose number of columns may be unknown.
pub(super) fn and_columns(columns: Option<usize>) -> String {
    columns.map(|columns| format!(" and {}", Counted(columns, "column"))).unwrap_or_default()
}
