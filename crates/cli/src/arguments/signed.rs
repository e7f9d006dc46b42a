//! Values that begin with a minus sign.

use std::ffi::OsString;

use clap::{ArgAction, Command};

/// Joins every value that begins with a minus sign to the option before it, as in `--cost=-1:2`, so that it
/// is read as its value, and is refused by the name of the option where it makes no sense.
pub(crate) fn joined(words: &[OsString], command: &Command) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::with_capacity(words.len());
    for word in words {
        match joined.last_mut() {
            Some(option) if begins_with_minus(word) && takes_a_value(option, command) => {
                option.push("=");
                option.push(word);
            }
            _ => joined.push(word.clone()),
        }
    }
    joined
}

/// Returns true for a word such as -1:2, which is neither - alone nor an option.
fn begins_with_minus(word: &OsString) -> bool {
    let text = word.to_string_lossy();
    let rest = text.strip_prefix('-').unwrap_or_default();
    !rest.is_empty() && !rest.starts_with('-') && !["h", "V"].contains(&rest)
}

/// Returns true for an option of some command that takes a value.
fn takes_a_value(option: &OsString, command: &Command) -> bool {
    let Some(name) = option.to_str().and_then(|word| word.strip_prefix("--")) else { return false };
    let takes = |command: &Command| {
        command.get_arguments().any(|argument| {
            let has_values = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
            has_values && argument.get_long() == Some(name)
        })
    };
    takes(command) || command.get_subcommands().any(takes)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;

    fn line(words: &str) -> String {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        let joined = joined(&words, &Arguments::command());
        let joined: Vec<&str> = joined.iter().filter_map(|word| word.to_str()).collect();
        joined.join(" ")
    }

    #[test]
    fn values_with_a_minus_sign_join_their_options() {
        for (given, expected) in [
            ("predict --cost -1:2", "predict --cost=-1:2"),
            ("predict --threshold -1 --data -", "predict --threshold=-1 --data -"),
            ("cv --folds -1 --seed -.5", "cv --folds=-1 --seed=-.5"),
            ("fit --class-weight -1=2,1=3", "fit --class-weight=-1=2,1=3"),
            ("fit --missing-words -,NA", "fit --missing-words=-,NA"),
            ("fit --data a.csv -x", "fit --data a.csv -x"),
            ("fit --lambda --quiet", "fit --lambda --quiet"),
            ("fit --quiet -h", "fit --quiet -h"),
            ("fit --encode -1", "fit --encode -1"),
            ("fit --lambda=1 -1", "fit --lambda=1 -1"),
            ("fit --lambda -h", "fit --lambda -h"),
        ] {
            assert_eq!(line(given), expected);
        }
    }

    /// No command takes a value that begins with a minus sign for an option that it does not know.
    #[test]
    fn every_option_takes_values_with_a_minus_sign() {
        let command = Arguments::command();
        for of in command.get_subcommands() {
            for argument in of.get_arguments() {
                let Some(option) =
                    argument.get_long().filter(|_| argument.get_action().takes_values())
                else {
                    continue;
                };
                let words = ["margins", of.get_name(), &format!("--{option}"), "-1:2"];
                let words = words.map(OsString::from);
                let wrong = clap::error::ErrorKind::UnknownArgument;
                let result = command.clone().try_get_matches_from(joined(&words, &command));
                assert_ne!(result.map_err(|error| error.kind()).err(), Some(wrong), "{words:?}");
            }
        }
    }
}
