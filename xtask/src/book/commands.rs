//! The commands of `margins` with their options, as the page of the command lists them.

use std::collections::BTreeMap;

/// The options of every command, and whether each takes a value.
pub(super) struct Commands(BTreeMap<String, BTreeMap<String, bool>>);

/// What ends a command of a shell.
const ENDS: [&str; 8] = ["|", "&&", "||", ";", "<", ">", ">>", "#"];

impl Commands {
    /// Reads the page of the command: a heading a command, and below it the help of the command.
    pub(super) fn read(page: &str) -> Result<Self, String> {
        let mut commands = BTreeMap::from([(String::new(), BTreeMap::new())]);
        let mut present = String::new();
        for line in page.lines() {
            if let Some(name) = line.strip_prefix("## margins ") {
                present = name.to_owned();
            }
            let options: &mut BTreeMap<_, _> = commands.entry(present.clone()).or_default();
            // Deeper lines explain an option.
            let indentation = line.len() - line.trim_start().len();
            if indentation > 6 {
                continue;
            }
            let mut words = line.split_whitespace().skip_while(|word| !word.starts_with("--"));
            if let (Some(option), true) = (words.next(), line.trim_start().starts_with('-')) {
                let takes_value = words.next().is_some_and(|word| word.starts_with('<'));
                options.insert(option.to_owned(), takes_value);
            }
        }
        if commands.len() < 2 {
            return Err("docs/command.md lists no command".to_owned());
        }
        commands.insert("help".to_owned(), BTreeMap::new());
        Ok(Commands(commands))
    }

    /// Returns what is wrong with the first call of `margins` in a line, if anything is.
    pub(super) fn fault(&self, line: &str) -> Option<String> {
        arguments(line).iter().find_map(|arguments| self.fault_of_call(arguments))
    }

    fn fault_of_call(&self, arguments: &[&str]) -> Option<String> {
        let (first, rest) = arguments.split_first()?;
        let is_placeholder = |word: &str| word.chars().all(|c| c.is_ascii_uppercase());
        if first.starts_with('-') {
            return self.fault_of_options("", arguments);
        }
        if is_placeholder(first) {
            return None;
        }
        // Of `fit|cv` each is meant.
        first.split('|').find_map(|command| self.fault_of_options(command, rest))
    }

    fn fault_of_options(&self, command: &str, words: &[&str]) -> Option<String> {
        let Some(options) = self.0.get(command) else {
            return Some(format!("margins has no command {command}"));
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (option, value) = word.split_once('=').map_or((*word, None), |(o, v)| (o, Some(v)));
            if !option.starts_with("--") {
                continue;
            }
            match options.get(option) {
                None => return Some(format!("margins {command} has no option {option}")),
                Some(true) if value.is_none() => {
                    words.next();
                }
                Some(_) => (),
            }
        }
        None
    }
}

/// Returns the arguments of every call of `margins` in a line of shell code.
fn arguments(line: &str) -> Vec<Vec<&str>> {
    let words: Vec<&str> =
        line.split_whitespace().map(|word| word.trim_end_matches([')', ';'])).collect();
    let mut calls = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let before = place.checked_sub(1).map(|before| words[before]);
        let begins = before.is_none_or(|before| ENDS.contains(&before) || before.contains('='));
        let is_call = match word.trim_start_matches(['<', '(', '$']) {
            "margins" => begins || word.len() > "margins".len(),
            "--" => before == Some("margins-cli"),
            _ => false,
        };
        if is_call {
            let rest = words[place + 1..].iter().copied();
            calls.push(rest.take_while(|word| !ENDS.contains(word)).collect());
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
  -h, --help

## margins fit

Learn --this by heart
      --data <FILE>...
          Data, see
          --nothing
  -h, --help

## margins man
";

    #[test]
    fn calls_are_found_in_lines() {
        assert_eq!(arguments("source <(margins completions bash)"), [["completions", "bash"]]);
        assert_eq!(arguments("cargo run -p margins-cli -- cv --x"), [["cv", "--x"]]);
        assert_eq!(arguments("zcat a | margins fit --data - > b"), [["fit", "--data", "-"]]);
        assert!(arguments("pip install margins && cat margins.csv").is_empty());
    }

    #[test]
    fn commands_and_options_must_exist() {
        let commands = Commands::read(PAGE).expect("a page");
        let fault = |line| commands.fault(line).unwrap_or_default();
        assert_eq!(fault("margins fit --data --odd | margins man X"), "");
        assert_eq!(fault("margins --help"), "");
        assert_eq!(fault("margins COMMAND -h"), "");
        assert_eq!(fault("margins man|fit"), "");
        assert_eq!(fault("margins fit --nothing"), "margins fit has no option --nothing");
        assert_eq!(fault("margins fit --this"), "margins fit has no option --this");
        assert_eq!(fault("margins man X | margins fot"), "margins has no command fot");
        assert!(Commands::read("nothing").is_err());
    }
}
