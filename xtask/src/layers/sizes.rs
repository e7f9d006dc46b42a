//! Long files and long functions.

use super::tokens::{Source, Token, item};

/// Most lines of a file outside its tests.
const FILE: usize = 400;
/// Most lines of a function.
const FUNCTION: usize = 60;
/// Begins a comment inside a function that says why it is long.
const REASON: &str = "// Long because";

/// Describes a file over 400 lines outside its tests, and its functions over 60 lines of which no
/// comment says why they are long.
pub(super) fn long(name: &str, text: &str) -> Vec<String> {
    let source = Source::new(text);
    let lines = text.lines().count() - source.test_lines;
    let file = (lines > FILE).then(|| format!("{name}: {lines} lines"));
    let functions = (0..source.tokens.len()).filter_map(|at| function(&source.tokens[at..]));
    let unexplained = functions.filter(|function| {
        let body = text.lines().skip(function.first - 1).take(function.lines);
        function.lines > FUNCTION && !body.into_iter().any(|line| line.trim().starts_with(REASON))
    });
    let long = unexplained
        .map(|Function { name: of, first, lines }| format!("{name}:{first}: {of}, {lines} lines"));
    file.into_iter().chain(long).collect()
}

struct Function<'s> {
    name: &'s str,
    first: usize,
    lines: usize,
}

/// Returns the function that the tokens begin with.
fn function<'s>(tokens: &[Token<'s>]) -> Option<Function<'s>> {
    let [keyword, name, ..] = tokens else { return None };
    if keyword.text != "fn" || !name.is_word() {
        return None;
    }
    let last = tokens[item(tokens).checked_sub(1)?].line;
    Some(Function { name: name.text, first: keyword.line, lines: last - keyword.line + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_and_functions_are_named() {
        let body = "    x();\n".repeat(59);
        let function = |name: &str, more: &str| format!("fn {name}() {{\n{more}{body}}}\n");
        assert_eq!(long("a.rs", &function("short", "").replacen("    x();\n", "", 1)), [""; 0]);
        assert_eq!(long("a.rs", &function("f", "")), ["a.rs:1: f, 61 lines"]);
        assert_eq!(long("a.rs", &function("f", "// Long because it is a table.\n")), [""; 0]);
        let lines = "const A: u8 = 1;\n".repeat(401);
        assert_eq!(long("b.rs", &lines), ["b.rs: 401 lines"]);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{lines}}}\n");
        assert_eq!(long("b.rs", &tests), [""; 0]);
    }
}
