//! Spellings of former versions, of which each is answered with the command line of today.

use std::ffi::OsString;

use margins::robust::Learner;

/// An option of a command line, with its value.
type Given = (String, Option<String>);

/// Returns the answer to arguments that a former version took, if these are such.
pub(crate) fn answer(arguments: &[OsString]) -> Option<String> {
    let words: Vec<String> =
        arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let (command, rest) = words.split_first()?;
    let mut given = options(rest);
    let solver = take(&mut given, "--solver").unwrap_or_default();
    let name = solver.split(':').next().unwrap_or_default().trim();
    let (spelling, change, today) = match (command.as_str(), name) {
        ("fit", "fol") => (format!("--solver {name}"), OF_ITS_OWN, focus(given)),
        ("fit", "massart-sgd" | "massart-cuts" | "massart-auto") => {
            (format!("--solver {name}"), OF_ITS_OWN, massart(name, given))
        }
        ("fit", "sgd" | "pegasos") => (format!("--solver {name}"), OF_ITS_OWN, stream(name, given)),
        ("fit", "") if given.iter().any(|(option, _)| option == "--stream") => {
            ("--stream".to_owned(), OF_ITS_OWN, stream("sgd", given))
        }
        ("fit" | "path", _) if Learner::NAMES.contains(&name) => {
            let objective = ("--objective".to_owned(), Some(solver.clone()));
            let change = "is an objective now, and no solver";
            (format!("--solver {name}"), change, line(command, [vec![objective], given].concat()))
        }
        _ => return None,
    };
    Some(format!("`{spelling}` {change}: {today}"))
}

const OF_ITS_OWN: &str = "is a command of its own now";

fn focus(given: Vec<Given>) -> String {
    line("focus", given)
}

/// Returns the command line of a learner under Massart noise, whose loss was where eta and gamma
/// stood.
fn massart(name: &str, mut given: Vec<Given>) -> String {
    let learner = name.trim_start_matches("massart-").to_owned();
    let mut today = vec![("--learner".to_owned(), Some(learner))];
    let loss = take(&mut given, "--loss").unwrap_or_default();
    let parameters = loss.split_once(':').map_or("", |(_, parameters)| parameters);
    let pairs = parameters.split(',').filter_map(|pair| pair.split_once('='));
    today.extend(
        pairs.map(|(name, value)| (format!("--{}", name.trim()), Some(value.trim().to_owned()))),
    );
    line("massart", [today, given].concat())
}

/// Returns the command line of stochastic gradient, which took ten epochs unless told.
fn stream(method: &str, mut given: Vec<Given>) -> String {
    let mut today = vec![("--method".to_owned(), Some(method.to_owned()))];
    let passes = given.iter().any(|(option, _)| option == "--epochs");
    let streams = given.iter().any(|(option, _)| option == "--stream");
    given.retain(|(option, _)| option != "--stream");
    if !(passes || streams) {
        today.push(("--epochs".to_owned(), Some("10".to_owned())));
    }
    line("stream", [today, given].concat())
}

/// Returns the options that words spell.
fn options(words: &[String]) -> Vec<Given> {
    let mut given: Vec<Given> = Vec::new();
    for word in words {
        match given.last_mut() {
            Some((_, value @ None)) if !word.starts_with("--") => *value = Some(word.clone()),
            _ => given.push(match word.split_once('=') {
                Some((option, value)) if option.starts_with("--") => {
                    (option.to_owned(), Some(value.to_owned()))
                }
                _ => (word.clone(), None),
            }),
        }
    }
    given
}

/// Takes the value of an option out.
fn take(given: &mut Vec<Given>, option: &str) -> Option<String> {
    let at = given.iter().position(|(name, _)| name == option)?;
    given.remove(at).1
}

fn line(command: &str, given: Vec<Given>) -> String {
    let words = given.into_iter().flat_map(|(option, value)| [Some(option), value]);
    let words: Vec<String> = words.flatten().map(|word| quoted(&word)).collect();
    format!("margins {command} {}", words.join(" "))
}

/// Returns a word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        answer(&words)
    }

    #[test]
    fn former_spellings_answer_with_those_of_today() {
        let cases = [
            (
                "margins fit --data d.csv --solver fol --learner stump",
                "`--solver fol` is a command of its own now: margins focus --data d.csv --learner stump",
            ),
            (
                "margins fit --solver=massart-cuts --loss=massart:eta=0.3,gamma=0.1 --data d.csv",
                "`--solver massart-cuts` is a command of its own now: margins massart --learner cuts --eta 0.3 \
                 --gamma 0.1 --data d.csv",
            ),
            (
                "margins fit --solver sgd --lambda 0.1 --no-intercept --data my*.csv",
                "`--solver sgd` is a command of its own now: margins stream --method sgd --epochs 10 --lambda 0.1 \
                 --no-intercept --data 'my*.csv'",
            ),
            (
                "margins fit --solver pegasos --stream --lambda 0.1 --data -",
                "`--solver pegasos` is a command of its own now: margins stream --method pegasos --lambda 0.1 --data -",
            ),
            (
                "margins fit --stream --data d.csv --lambda 0.1",
                "`--stream` is a command of its own now: margins stream --method sgd --data d.csv --lambda 0.1",
            ),
            (
                "margins path --solver catoni:alpha=2 --data d.csv",
                "`--solver catoni` is an objective now, and no solver: margins path --objective catoni:alpha=2 --data \
                 d.csv",
            ),
        ];
        for (former, today) in cases {
            assert_eq!(answered(former).as_deref(), Some(today), "{former}");
        }
    }

    #[test]
    fn spellings_of_today_have_no_answer() {
        for line in
            ["margins", "margins fit --solver newton --data d.csv", "margins cv --solver fol"]
        {
            assert_eq!(answered(line), None, "{line}");
        }
    }
}
