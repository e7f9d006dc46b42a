//! The options of the command that are no keyword of an estimator, with what does the same in Python.

use margins::estimators::settings::EstimatorSettings;
use margins_cli::CommandOption;

/// What does the same in Python as an option, which may be that of one command only: `psi --at`. Nothing
/// where the option is about files and texts of the command.
const IN_PYTHON: &[(&str, &str)] = &[
    ("data", "`X` and `y`"),
    ("location --data", "`calibration.location(sample)`"),
    ("label", "`y`"),
    ("fold-column", "`cv`, `groups` of `MarginClassifierCV`; `folds` of `blocks.write`"),
    ("columns", "the shape of `X`"),
    ("data-format", ""),
    ("drop-unlabelled", ""),
    ("positive", "the second of `classes_`"),
    ("weights-column", "`sample_weight` of `fit`, `score` and `blocks.write`"),
    ("encode", "`encode`, where there is one, or a transformer of scikit-learn"),
    ("categorical", "`encode={\"categorical\": ...}`, where there is `encode`"),
    ("drop", "`encode={\"drop\": ...}`, where there is `encode`"),
    ("missing", "`encode={\"missing\": ...}`, where there is `encode`"),
    ("missing-words", "`encode={\"missing_words\": ...}`, where there is `encode`"),
    ("unknown", "`encode={\"unknown\": ...}`, where there is `encode`"),
    ("classes", "`classes` of `partial_fit`"),
    ("training", ""),
    ("lambda", "`C`: `lambda = 1/(2 n C)`"),
    ("start", "`coef_init`, `intercept_init` of `fit`"),
    ("step", "`solver=\"gd\"` has its default"),
    ("out", "`save(path)`"),
    ("regress --out", "`predict(X)`"),
    ("predict --out", "`predict(X)`, `decision_function(X)`"),
    ("report --out", "the displays of `display`"),
    ("convert --out", "`save(path)`"),
    ("blocks --out", "`blocks.write(path, X, y)`"),
    ("format", "attributes"),
    ("report", "the displays of `display`"),
    ("checkpoint", ""),
    ("test", "`score(X, y)`"),
    ("regress --test", "`predict(X)`"),
    ("history", "`callback`"),
    ("limit", "`separable_limit(X, y, loss, q=Q)`"),
    ("or-loss", "`loss`, a list"),
    ("kernel", "`kernels`"),
    ("leave-one-out", "`cv=\"leave-one-out\"`, `cv=\"one-step\"`"),
    ("threads", "`n_jobs`, where there is one"),
    ("multi-class", "any labels: one-versus-rest"),
    ("stream", "`partial_fit`"),
    ("calculate", "`massart.plan`, `massart.cut_plan`"),
    ("audit", "`massart.audit(X, y, gamma)`"),
    ("model", "`load(path)`"),
    ("bound --model", "`calibration.garg_roth_bound(margins)`"),
    ("predict --lambda", "`load(path, C)`, `MarginPath.predict(X, C)`"),
    ("report --lambda", "`load(path, C)`"),
    ("inspect --lambda", "`load(path, C)`, `coefs_` of `MarginPath`"),
    ("threshold", "scikit-learn's `FixedThresholdClassifier`"),
    ("probability", "scikit-learn's `FixedThresholdClassifier(response_method=\"predict_proba\")`"),
    ("cost", "scikit-learn's `TunedThresholdClassifierCV`"),
    ("precision", "`dtype` of `blocks.write`"),
    ("blocks --rows", "`rows` of `blocks.write`"),
    ("psi --loss", "`loss` of `calibration.psi`"),
    ("inspect --loss", "`loss` of `calibration.least_risk`"),
    ("bound --loss", "`gamma`, `scale` of `calibration.margin_pursuit_bound_of`"),
    ("at", "`at` of `calibration.psi`"),
    ("quantity", "functions of `calibration` and `losses`"),
    ("inverse", "`calibration.psi_inverse`"),
    ("cubic", "`calibration.getroot(a, b, c, d)`"),
    ("location --scale", "`scale` of `calibration.location`"),
    ("variance", "`variance_bound` of `calibration.location`"),
    ("location --delta", "`delta` of `calibration.location`"),
    ("changes", "`changes` of `calibration.location`"),
    ("seed", "`random_state`"),
    ("bound --standardize", "`StandardScaler` before"),
    ("radius", "`radius` of `calibration.margin_pursuit_bound_of`"),
    ("bound --delta", "`delta` of `calibration.margin_pursuit_bound_of` and `garg_roth_bound`"),
    ("bound --scales", "one call per scale"),
    ("plan --delta", "`delta` of the functions of `bounds`"),
    ("epsilon", "`epsilon` of the functions of `bounds`"),
    ("plan --rows", "`n` of the functions of `bounds`"),
    ("mistakes", "`mistakes` of `bounds.focused_horizon` and `bounds.focused_failure`"),
    ("plan --slack", "`slack` of `bounds.focused_horizon` and `bounds.focused_failure`"),
    ("steps", "`steps` of `bounds.focused_failure`"),
    ("outputs", "`outputs` of `bounds.focused_failure`"),
    ("dimension", "`dimension` of `bounds.typical_and_rare_samples`"),
    ("reduced-dimension", "`reduced_dimension` of `bounds.typical_and_rare_samples`"),
    ("gap", "`gap` of `bounds.typical_and_rare_samples`"),
    ("rare-share", "`rare` of `bounds.typical_and_rare_samples`"),
    ("outliers", "`outliers` of `bounds.subsample_failure`"),
    ("rare", "`rare` of `bounds.subsample_failure`"),
    ("size", "`size` of `bounds.subsample_failure`"),
];

/// Options whose meaning is that of the whole program.
const OF_THE_PROGRAM: [&str; 3] = ["quiet", "verbose", "help"];

/// Returns the section on options that are no row of the estimators of their command. Several commands
/// that have an option with one meaning share a row.
pub(super) fn section(estimators: &[EstimatorSettings]) -> String {
    let mut rows: Vec<(CommandOption, Vec<String>)> = Vec::new();
    for option in margins_cli::options() {
        if is_setting(&option, estimators) || OF_THE_PROGRAM.contains(&&*option.name) {
            continue;
        }
        let is_same = |row: &CommandOption| {
            (&row.name, &row.default, &row.meaning, in_python(row))
                == (&option.name, &option.default, &option.meaning, in_python(&option))
        };
        match rows.iter_mut().find(|(row, _)| is_same(row)) {
            Some((_, commands)) => commands.push(option.command),
            None => rows.push((option.clone(), vec![option.command])),
        }
    }
    let mut section = "\n## Options of the commands alone\n\nOptions of the commands that are no keyword of their \
                       estimators, and what does the same in Python.\nEvery command has `--quiet`, `--verbose` and `--help` \
                       as well.\n\n\
                       | option | commands | default | meaning | Python |\n\
                       | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for (option, commands) in rows {
        let default = match &*option.default {
            "" => String::new(),
            default => format!("`{default}`"),
        };
        section += &format!(
            "| `--{}` | {} | {default} | {} | {} |\n",
            option.name,
            commands.join(", "),
            option.meaning.replace('|', "\\|"),
            in_python(&option).unwrap_or_default()
        );
    }
    section
}

/// Returns true for an option of a setting of an estimator of its command.
fn is_setting(option: &CommandOption, estimators: &[EstimatorSettings]) -> bool {
    let of_command =
        estimators.iter().filter(|estimator| estimator.commands.contains(&&*option.command));
    let mut settings = of_command.flat_map(|estimator| estimator.settings);
    settings.any(|row| row.option == Some(&*option.name))
}

/// Returns what does the same in Python as an option, if that is known.
fn in_python(option: &CommandOption) -> Option<&'static str> {
    let of_command = format!("{} {}", option.command, option.name);
    let words =
        |key: &str| IN_PYTHON.iter().find(|(name, _)| *name == key).map(|(_, words)| *words);
    words(&of_command.replacen(' ', " --", 1)).or_else(|| words(&option.name))
}

#[cfg(test)]
mod tests {
    use margins::estimators::settings::ESTIMATORS;

    use super::*;

    #[test]
    fn every_option_has_its_words_for_python() {
        for option in margins_cli::options() {
            let is_known = OF_THE_PROGRAM.contains(&&*option.name) || in_python(&option).is_some();
            let is_known = is_known || is_setting(&option, ESTIMATORS);
            assert!(is_known, "{} --{}", option.command, option.name);
        }
    }

    #[test]
    fn words_for_python_are_of_options_and_items_that_exist() {
        let (options, python) = (margins_cli::options(), crate::settings::words_of_python());
        for (key, words) in IN_PYTHON {
            let codes = words.split('`').skip(1).step_by(2);
            let names = codes.flat_map(|code| code.split(['(', '=']).take(1));
            let names = names.flat_map(|code| code.split('.'));
            for name in names.filter(|name| !["StandardScaler", "X", "y", "lambda "].contains(name))
            {
                let is_theirs = words.starts_with("scikit-learn's");
                assert!(is_theirs || python.contains(name), "{key}: no {name} in Python");
            }
            let is_row = |option: &&CommandOption| in_python(option) == Some(*words);
            let has_key = |option: &CommandOption| {
                option.name == *key || format!("{} --{}", option.command, option.name) == *key
            };
            let rows =
                options.iter().filter(is_row).filter(|option| !is_setting(option, ESTIMATORS));
            assert!(rows.clone().any(has_key), "{key} makes no row");
        }
    }
}
