//! Rust sources as words and marks, without comments, literals and tests.

/// A word or a mark (`::` is one mark) of a source, with the number of its line from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'s> {
    pub(super) text: &'s str,
    pub(super) line: usize,
}

impl Token<'_> {
    pub(super) fn is_word(self) -> bool {
        self.text.starts_with(is_word_character)
    }
}

/// Returns the words and marks of a source.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let (mut rest, mut line, mut tokens) = (source, 1, Vec::new());
    while let Some(first) = rest.chars().next() {
        let blank = blank(rest, first);
        let length = blank.unwrap_or_else(|| mark(rest, first));
        let (text, after) = rest.split_at(length);
        if blank.is_none() {
            tokens.push(Token { text, line });
        }
        line += text.matches('\n').count();
        rest = after;
    }
    tokens
}

/// Returns the length of the white space, comment, literal or lifetime that the text begins with.
fn blank(text: &str, first: char) -> Option<usize> {
    if first.is_whitespace() {
        return Some(first.len_utf8());
    }
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(block_comment(text));
    }
    if first == '\'' {
        return Some(character_or_lifetime(text));
    }
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|prefix| {
        text.strip_prefix(prefix).is_some_and(|rest| {
            let raw = prefix.ends_with('r');
            rest.trim_start_matches(|c| raw && c == '#').starts_with('"')
        })
    })?;
    let opened = &text[prefix.len()..];
    let length = if prefix.ends_with('r') { raw_string(opened) } else { quoted(opened, '"') };
    Some(prefix.len() + length)
}

/// Returns the length of a word, of `::` or of one character.
fn mark(text: &str, first: char) -> usize {
    if is_word_character(first) {
        text.find(|c| !is_word_character(c)).unwrap_or(text.len())
    } else if text.starts_with("::") {
        2
    } else {
        first.len_utf8()
    }
}

fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length of a block comment with those inside it.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// Returns the length of a literal from its opening to its closing quotation mark.
fn quoted(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        if c == '\\' {
            characters.next();
        } else if c == quote {
            return at + quote.len_utf8();
        }
    }
    text.len()
}

/// Returns the length of `#"..."#` with any number of number signs.
fn raw_string(text: &str) -> usize {
    let signs = text.len() - text.trim_start_matches('#').len();
    let end = format!("\"{}", "#".repeat(signs));
    let body = signs + 1;
    text[body..].find(&end).map_or(text.len(), |at| body + at + end.len())
}

fn character_or_lifetime(text: &str) -> usize {
    let mut after = text.chars().skip(1);
    let is_character = matches!((after.next(), after.next()), (Some('\\'), _) | (_, Some('\'')));
    if is_character {
        quoted(text, '\'')
    } else {
        text[1..].find(|c| !is_word_character(c)).map_or(text.len(), |length| 1 + length)
    }
}

/// A source without the items that `#[cfg(test)]` marks.
#[derive(Debug)]
pub(super) struct Source<'s> {
    pub(super) tokens: Vec<Token<'s>>,
    /// Names of the modules of tests that are files of their own.
    pub(super) test_modules: Vec<&'s str>,
    /// Number of lines that belong to tests.
    pub(super) test_lines: usize,
}

const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

impl<'s> Source<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        let all = tokens(text);
        let mut source = Source { tokens: Vec::new(), test_modules: Vec::new(), test_lines: 0 };
        let mut at = 0;
        while at < all.len() {
            let rest = &all[at..];
            if !begins_with(rest, &TEST) {
                source.tokens.push(all[at]);
                at += 1;
                continue;
            }
            let item = &rest[..TEST.len() + item(&rest[TEST.len()..])];
            source.test_modules.extend(item.windows(3).find_map(declared));
            source.test_lines += item[item.len() - 1].line - item[0].line + 1;
            at += item.len();
        }
        source
    }
}

/// Returns the name of `mod name;`.
fn declared<'s>(three: &[Token<'s>]) -> Option<&'s str> {
    (three[0].text == "mod" && three[2].text == ";").then_some(three[1].text)
}

fn begins_with(tokens: &[Token<'_>], texts: &[&str]) -> bool {
    tokens.len() >= texts.len() && tokens.iter().zip(texts).all(|(token, text)| token.text == *text)
}

/// Words that begin items, of which commas are part.
const KEYWORDS: [&str; 10] =
    ["fn", "struct", "enum", "trait", "impl", "type", "const", "static", "mod", "use"];

/// Returns the number of tokens of the item that stands first: up to its `;` or the end of its
/// block, or, if it is a field, before what ends it.
pub(super) fn item(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0_usize;
    let mut keyword = None;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => return at,
            ")" | "]" => depth -= 1,
            "}" => {
                depth -= 1;
                if depth == 0 && keyword != Some("use") {
                    return at + 1;
                }
            }
            "," if depth == 0 && keyword.is_none() => return at,
            ";" if depth == 0 => return at + 1,
            word if depth == 0 && KEYWORDS.contains(&word) => keyword = keyword.or(Some(word)),
            _ => (),
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_literals_are_left_out() {
        let source = r###"a // crate::x
            /* crate::y /* inner */ still */ b("crate::z \" q", 'c', '\'', r#"raw " crate"#, b"x")
            fn f<'l>(x: &'l str) -> br"\" { }"###;
        let marks = ["a", "b", "(", ",", ",", ",", ",", ")", "fn", "f", "<", ">", "(", "x", ":"];
        let rest = ["&", "str", ")", "-", ">", "{", "}"];
        assert_eq!(texts(source), [&marks[..], &rest[..]].concat());
        assert_eq!(texts("r#type::rb::café"), ["r", "#", "type", "::", "rb", "::", "café"]);
    }

    #[test]
    fn tokens_know_their_lines() {
        let lines: Vec<usize> =
            tokens("a\n/* \n */ b \"\n\" c").iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 3, 4]);
    }

    #[test]
    fn items_of_tests_are_left_out() {
        let source = "use a;\n#[cfg(test)]\nuse b::{c, d};\n#[cfg(test)] #[path = \"p\"] mod other;\n\
            fn g() {}\n#[cfg(test)]\nmod tests {\n fn f() -> [u8; 2] { x; }\n}\n\
            #[cfg(test)] fn f<A, B>(a: A, b: B) { (a, b) }\nfn h(#[cfg(test)] x: X, y: Y);";
        let source = Source::new(source);
        let kept: Vec<&str> = source.tokens.iter().map(|token| token.text).collect();
        let expected = [
            "use", "a", ";", "fn", "g", "(", ")", "{", "}", "fn", "h", "(", ",", "y", ":", "Y",
            ")", ";",
        ];
        assert_eq!(kept, expected);
        assert_eq!(source.test_modules, ["other"]);
        assert_eq!(source.test_lines, 2 + 1 + 4 + 1 + 1);
    }

    #[test]
    fn a_literal_without_an_end_ends_with_the_file() {
        for source in ["\"open", "r#\"open\"", "/* open", "'\\"] {
            assert_eq!(texts(source), [""; 0], "{source}");
        }
    }
}
