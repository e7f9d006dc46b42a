//! What a terminal can show.

/// Returns the columns of the terminal.
pub(crate) fn width() -> usize {
    const USUAL: usize = 80;
    let given = variable("COLUMNS").and_then(|columns| columns.parse().ok());
    let asked = || terminal_size::terminal_size().map(|(width, _)| width.0.into());
    given.or_else(asked).unwrap_or(USUAL)
}

/// Returns true if the terminal only adds text to text.
pub(crate) fn is_dumb() -> bool {
    variable("TERM").is_none_or(|terminal| terminal == "dumb")
}

/// Returns true if nothing but ASCII is to be drawn: the terminal is a dumb one, nothing fancy is
/// wanted, or its text is not UTF-8.
pub(crate) fn is_plain() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable);
    let utf8 = locale.is_some_and(|name| {
        let name = name.to_ascii_lowercase();
        name.ends_with("utf-8") || name.ends_with("utf8")
    });
    is_dumb() || !utf8 || variable("NO_COLOR").is_some()
}

/// Returns a variable of the environment that is set and not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
