//! The findings in words.

use std::cmp::Ordering;

use margins_experiments::{Mean, Numbers};

use super::numbers::{BY_CHOICE, BY_RULE, CERTIFIED, Head, PUBLISHED, Shown};
use crate::leaky_hockey_stick::comparison::distance;
use crate::leaky_hockey_stick::data_sets::DATA_SETS;
use crate::leaky_hockey_stick::tuning::Space;

/// The standard errors beyond which a difference counts. Of 20 entries about one is beyond two by
/// chance.
const FAR: f64 = 3.0;

/// Returns the names, or `no entry`.
fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    if names.is_empty() { "no entry".to_owned() } else { names.join(", ") }
}

/// The entries of which a paired difference is far above 0, and those where it is far below.
struct Differences {
    above: Vec<String>,
    below: Vec<String>,
}

impl Differences {
    fn of<'a>(
        shown: impl Iterator<Item = &'a Shown<'a>>,
        difference: impl Fn(&Shown<'_>) -> Mean,
    ) -> Self {
        let mut found = Differences { above: Vec::new(), below: Vec::new() };
        for s in shown {
            let difference = difference(s);
            let Mean { mean, standard_error } = difference;
            let entry = format!("{} ({:.2} +- {standard_error:.2})", s.name(), mean.abs());
            match difference.in_standard_errors() {
                distance if distance > FAR => found.above.push(entry),
                distance if distance < -FAR => found.below.push(entry),
                _ => {}
            }
        }
        found
    }

    /// Returns `less on X and more on Y`.
    fn in_words(&self) -> String {
        let [less, more] = [&self.above, &self.below].map(|names| listed(names.iter().cloned()));
        format!("less on {less} and more on {more}")
    }
}

/// Returns the finding in words.
pub(super) fn finding(shown: &[Shown<'_>]) -> String {
    let with_rule = || shown.iter().filter(|s| !s.of(PUBLISHED, Head::Largest).mean.is_nan());
    let as_good = with_rule().filter(|s| {
        let k = s.hindsight();
        let rule = |t: &Numbers| s.chosen(t, PUBLISHED, Head::Largest);
        s.mean(|t| s.error(t, CERTIFIED, k) - rule(t)).mean <= 0.0
    });
    let ruled = with_rule().count();
    let [by_rule, by_choice] = [BY_RULE, BY_CHOICE]
        .map(|[one, other]| Differences::of(shown.iter(), |s| s.difference(one, other)));
    let early_stopping = match (by_rule.above.len(), by_rule.below.len()) {
        (0, 0) => "early stopping neither helps nor hurts here".to_owned(),
        (0, hurt) => format!(
            "early stopping is no second regulariser here, and hurts {hurt} of {ruled} entries"
        ),
        (helped, _) => {
            format!("early stopping is a second regulariser on {helped} of {ruled} entries")
        }
    };
    let matters = match by_choice.above.len().cmp(&by_rule.above.len()) {
        Ordering::Greater => "Another choice of lambda helps more",
        Ordering::Equal => "Another choice of lambda helps as often",
        Ordering::Less => "Another choice of lambda helps less",
    };
    let off = |rule: usize, choice: Head| {
        let far = shown.iter().filter_map(|s| {
            let distance = distance(s.of(rule, choice), s.row.published[0]);
            (distance.abs() > FAR).then(|| format!("{} ({distance:+.1})", s.name()))
        });
        listed(far)
    };
    let by_default = Differences::of(shown.iter(), |s| {
        s.difference((PUBLISHED, Head::Largest), (CERTIFIED, Head::LogLoss))
    });
    let advice = match by_default.below.len() {
        0 => "Users lose nothing by certified fits with that choice, the default of `margins cv`",
        _ => "Users may want both: the default of `margins cv` and `--stop published`",
    };
    format!(
        "More than {FAR} standard errors from the published errors are: certified fits at the lambda \
         of the lowest log-loss on {}; certified fits at the largest lambda on {}; fits by the \
         published stopping rule at the largest lambda on {}. All three have the lowest \
         cross-validated error, which on small samples many lambdas share.\n\n\
         At the largest lambda, fits by the published rule err {} than certified ones, by more than \
         {FAR} paired standard errors: {early_stopping}. {matters}: certified fits at the lambda of \
         the lowest log-loss err {} than at the largest. At one fixed lambda, known in hindsight, \
         certified fits err at most as much as the rule on {} of {ruled} entries. {advice}: they err {} \
         than the published rule at the largest lambda.\n\n{}",
        off(CERTIFIED, Head::LogLoss),
        off(CERTIFIED, Head::Largest),
        off(PUBLISHED, Head::Largest),
        by_rule.in_words(),
        by_choice.in_words(),
        as_good.count(),
        by_default.in_words(),
        Space::BOTH.map(|space| beside_machine(shown, space)).join(" "),
    )
}

/// Returns on how many data sets of a space the leaky hockey stick classifier errs less than the
/// support vector machine, and on how many it is faster, as sentences.
fn beside_machine(shown: &[Shown<'_>], space: Space) -> String {
    let of_space = || shown.iter().filter(move |s| s.row.space == space);
    let is_less = |[lhs, svm]: &[Mean; 2]| lhs.mean < svm.mean;
    let count = |choice| {
        let ours = |s: &Shown<'_>| [s.of(CERTIFIED, choice), s.mean(|t| s.machine(t))];
        of_space().filter(|s| is_less(&ours(s))).count()
    };
    let published = of_space().filter(|s| is_less(&s.row.published)).count();
    let everywhere = DATA_SETS.iter().map(|set| set.published(space));
    let everywhere = everywhere.filter(is_less).count();
    let ours = count(Head::Largest);
    let compared = match ours.cmp(&published) {
        Ordering::Less => "fewer than the",
        Ordering::Equal => "as many as the",
        Ordering::Greater => "more than the",
    };
    let is_faster = |[lhs, svm]: [f64; 2]| lhs < svm;
    let ours_faster = of_space().filter(|s| {
        let certified = Mean::of(s.numbers(|t| s.head(t, CERTIFIED, Head::Seconds))).mean;
        is_faster([certified, Mean::of(s.numbers(|t| s.machine_seconds(t))).mean])
    });
    let faster = of_space().filter(|s| is_faster(s.published_seconds())).count();
    let faster_everywhere =
        DATA_SETS.iter().filter(|set| is_faster(set.published_seconds(space))).count();
    let differences = Differences::of(of_space(), |s| {
        s.mean(|t| s.machine(t) - s.chosen(t, CERTIFIED, Head::Largest))
    });
    format!(
        "With the {} space the leaky hockey stick classifier has a lower mean error than the support \
         vector machine, both at the largest lambda, on {ours} of {} data sets, {compared} {published} \
         published for these ({everywhere} of the {} in the paper); by log-loss on {}. Beyond {FAR} \
         paired standard errors it errs {}. Certified fits take less time than the machine on {} of \
         them; in the paper, on another machine, its classifier does on {faster} of these and on \
         {faster_everywhere} of all.",
        space.name(),
        of_space().count(),
        DATA_SETS.len(),
        count(Head::LogLoss),
        differences.in_words(),
        ours_faster.count(),
    )
}

/// Returns in words which part of the published rule changes the error.
pub(super) fn parts_in_words(shown: &[Shown<'_>]) -> String {
    let [limit, tolerance] =
        [0, 1].map(|part| Differences::of(shown.iter(), |s| s.parts()[part]).in_words());
    format!(
        "**The parts of the rule.** The published rule differs from certified fits by its limit of \
         iterations for a path and by its tolerance. *Before the limit* are certified fits at the \
         largest lambda of the lowest cross-validated error among the lambdas that the rule reaches. \
         Beyond {FAR} paired standard errors, certified fits at all lambdas err {limit} than those before \
         the limit, which is due to the limit. Those before the limit err {tolerance} than the rule, \
         which is due to the tolerance.",
    )
}
