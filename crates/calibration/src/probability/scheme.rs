//! How binary classifiers decide between several classes, and which probabilities these have then.

use margins_losses::{MarginLoss, joint_probabilities, softmax};

use super::pairwise_coupling;
use crate::Error;

/// How binary classifiers, the members of a model, decide between k classes.
///
/// The positive class of a member, for which a positive score speaks, is the later of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Scheme {
    /// Two classes, one member: the second class where its score is greater than 0, else the first.
    Binary,
    /// A member for each class, which is its positive one, against all others: the class of the
    /// largest score, the first of several.
    OneVersusRest,
    /// A member for every pair of classes `i < j`, of which `j` is its positive one, in the order
    /// of [`pairs`](Self::pairs): the class that wins most of its pairs; of several the one whose
    /// signed scores have the largest sum, without those of [certain](Self::CERTAIN) members; of several
    /// still the first.
    OneVersusOne,
    /// Two classes, any number of members, of which each votes for the second class where its own
    /// score is greater than 0, else for the first. The score is the share of votes for the second
    /// class less that for the first: the second class where it is greater than 0, else the first.
    Majority,
    /// A score for each class, all from one problem over the margins `s_y - s_c`: the class of the largest
    /// score, the first of several.
    Joint,
    /// A score for each class, all from the multinomial logistic regression: the class of the largest
    /// score, the first of several.
    Multinomial,
    /// A score for each class, all from the machine of Crammer and Singer: the class of the largest score,
    /// the first of several.
    CrammerSinger,
    /// A majority for each class against all others, of any number of members: the class of the
    /// largest score, which is the share of votes for the class less that against it; of several the
    /// first.
    MajorityVersusRest,
    /// Any number of voters, each of a member for every class in their order, which votes for the
    /// class of its largest score, the first of several: the class of the largest score, which is the
    /// share of votes for the class less that for others; of several the first.
    Plurality,
    /// Two classes, any number of linear members with a threshold each: the
    /// score is that of the first member whose score is large enough, in absolute value; the second
    /// class where it is greater than 0, else the first.
    DecisionList,
}

impl Scheme {
    /// The size of the score of a member that decides the same class for every sample, because the other
    /// one has no weight: above every score of a fit, and within single precision.
    pub const CERTAIN: f64 = 1e30;

    /// Returns true if the members vote, so that a score is a share of votes and has no probability.
    pub fn is_vote(self) -> bool {
        matches!(self, Scheme::Majority | Scheme::MajorityVersusRest | Scheme::Plurality)
    }

    /// Returns true if the members come from one problem, so that they have one certificate.
    pub fn is_joint(self) -> bool {
        matches!(self, Scheme::Joint | Scheme::Multinomial | Scheme::CrammerSinger)
    }

    /// Returns true if several members have one score together, which has no probability: those of a
    /// [vote](Self::is_vote) or a decision list.
    pub fn scores_together(self) -> bool {
        self.is_vote() || self == Scheme::DecisionList
    }

    /// Returns the number of scores of a sample for k classes: 1, k or k(k - 1)/2; `None` where the
    /// scheme is not for as many classes. It is the number of members too, unless these
    /// [score together](Self::scores_together).
    pub fn scores(self, classes: usize) -> Option<usize> {
        match self {
            Scheme::Binary | Scheme::Majority | Scheme::DecisionList => (classes == 2).then_some(1),
            _ if classes < 2 => None,
            Scheme::OneVersusRest
            | Scheme::Joint
            | Scheme::Multinomial
            | Scheme::CrammerSinger
            | Scheme::MajorityVersusRest
            | Scheme::Plurality => Some(classes),
            Scheme::OneVersusOne => Some(classes.checked_mul(classes - 1)? / 2),
        }
    }

    /// Returns the pairs `(i, j)`, `i < j`, of k classes in the order of the members of
    /// [`OneVersusOne`](Self::OneVersusOne): (0, 1), (0, 2), ..., (0, k - 1), (1, 2), ...
    pub fn pairs(classes: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..classes).flat_map(move |i| (i + 1..classes).map(move |j| (i, j)))
    }

    /// Returns for each score the classes that it distinguishes, in words, the positive one first:
    /// `'b' against 'a'`.
    pub fn member_names(self, classes: &[String]) -> Vec<String> {
        let pair = |i: usize, j: usize| format!("'{}' against '{}'", classes[j], classes[i]);
        match self {
            Scheme::Binary | Scheme::Majority | Scheme::DecisionList => vec![pair(0, 1)],
            Scheme::OneVersusRest | Scheme::MajorityVersusRest | Scheme::Plurality => {
                classes.iter().map(|class| format!("'{class}' against the rest")).collect()
            }
            Scheme::Joint | Scheme::Multinomial | Scheme::CrammerSinger => {
                classes.iter().map(|class| format!("'{class}'")).collect()
            }
            Scheme::OneVersusOne => Self::pairs(classes.len()).map(|(i, j)| pair(i, j)).collect(),
        }
    }

    /// Returns the names of the problems that the members come from, each with its own certificate: one
    /// for all classes of a [joint](Self::is_joint) scheme, else one per
    /// [member](Self::member_names).
    pub fn problem_names(self, classes: &[String]) -> Vec<String> {
        match self.is_joint() {
            true => vec!["all classes".to_owned()],
            false => self.member_names(classes),
        }
    }

    /// Returns the class, counted from 0, that the scores of a sample stand for. The scores must be
    /// numbers: no class follows from NaN, which this function takes for a score that is not
    /// greater than any other.
    ///
    /// # Panics
    /// If there are not as many scores as [`scores`](Self::scores) says.
    pub fn decide(self, classes: usize, scores: &[f64]) -> usize {
        assert_eq!(Some(scores.len()), self.scores(classes), "the scores of a sample");
        match self {
            Scheme::Binary | Scheme::Majority | Scheme::DecisionList => {
                usize::from(scores[0] > 0.0)
            }
            Scheme::OneVersusRest
            | Scheme::Joint
            | Scheme::Multinomial
            | Scheme::CrammerSinger
            | Scheme::MajorityVersusRest
            | Scheme::Plurality => {
                (1..classes).fold(0, |best, k| if scores[k] > scores[best] { k } else { best })
            }
            Scheme::OneVersusOne => {
                let standings = Self::standings(classes, scores);
                let better = |best: usize, k: usize| standings[k] > standings[best];
                (1..classes).fold(0, |best, k| if better(best, k) { k } else { best })
            }
        }
    }

    /// Returns for each class how [one-versus-one](Self::OneVersusOne) ranks it by the scores of a sample:
    /// the number of pairs that it wins, and the sum of its signed scores that are smaller than
    /// [`CERTAIN`](Self::CERTAIN), in which others would round away.
    pub fn standings(classes: usize, scores: &[f64]) -> Vec<(usize, f64)> {
        let mut standings = vec![(0, 0.0); classes];
        for ((i, j), &score) in Self::pairs(classes).zip(scores) {
            standings[if score > 0.0 { j } else { i }].0 += 1;
            if score.abs() < Self::CERTAIN {
                standings[i].1 -= score;
                standings[j].1 += score;
            }
        }
        standings
    }

    /// Writes the probability of every class from the scores of a sample, each member's by the loss; returns
    /// `None` where the loss gives none, and for schemes whose scores have none.
    ///
    /// Of a [joint](Self::is_joint) problem they are those whose conditional risk the scores
    /// [minimise](joint_probabilities), or the [`softmax`] of the scores; else [those of the
    /// members](Self::probabilities).
    ///
    /// ```
    /// use margins_calibration::probability::Scheme;
    /// use margins_losses::Logistic;
    ///
    /// let mut p = [0.0; 3];
    /// let logit = |p: f64| (p / (1.0 - p)).ln();
    /// // Pairs (0, 1), (0, 2), (1, 2) of the probabilities 0.2, 0.3, 0.5.
    /// let pairs = [0.3 / 0.5, 0.5 / 0.7, 0.5 / 0.8].map(logit);
    /// Scheme::OneVersusOne.class_probabilities(&pairs, &Logistic, &mut p).expect("logistic");
    /// assert!(p.iter().zip([0.2, 0.3, 0.5]).all(|(p, truth)| (p - truth).abs() < 1e-12));
    /// ```
    ///
    /// # Panics
    /// If there are not as many scores as [`scores`](Self::scores) says for as many classes as there is room.
    pub fn class_probabilities<L: MarginLoss + ?Sized>(
        self,
        scores: &[f64],
        loss: &L,
        out: &mut [f64],
    ) -> Option<()> {
        assert_eq!(Some(scores.len()), self.scores(out.len()), "the scores of a sample");
        loss.probability(0.0)?;
        match self {
            Scheme::Joint => joint_probabilities(loss, scores, out),
            Scheme::Multinomial => softmax(scores, out),
            Scheme::Binary | Scheme::OneVersusRest | Scheme::OneVersusOne => {
                let of_members: Option<Vec<f64>> =
                    scores.iter().map(|&score| loss.probability(score)).collect();
                self.probabilities(&of_members?, out).ok()?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Writes the probability of every class, from the one that each member gives to its positive class. Two
    /// classes have 1 - p and p. One-versus-rest: the p of all classes are divided by their sum, or all
    /// classes have the same probability where that is 0. One-versus-one: [pairwise
    /// coupling](pairwise_coupling) of Wu, Lin and Weng (2004).
    ///
    /// # Errors
    /// [`Error::NoProbabilities`]: another scheme. [`Error::Entry`]: a number that is not a probability.
    ///
    /// # Panics
    /// If there are not as many probabilities of members as the scheme has [scores](Self::scores), or
    /// there is no room for one per class.
    pub fn probabilities(self, of_members: &[f64], out: &mut [f64]) -> Result<(), Error> {
        assert_eq!(Some(of_members.len()), self.scores(out.len()), "one probability a score");
        match self {
            Scheme::Binary => out.copy_from_slice(&[1.0 - of_members[0], of_members[0]]),
            Scheme::OneVersusRest => {
                let (sum, even) = (of_members.iter().sum::<f64>(), 1.0 / out.len() as f64);
                let share = |p: &f64| if sum > 0.0 { p / sum } else { even };
                out.iter_mut().zip(of_members).for_each(|(out, p)| *out = share(p));
            }
            Scheme::OneVersusOne => {
                out.copy_from_slice(&pairwise_coupling(out.len(), of_members)?);
            }
            _ => return Err(Error::NoProbabilities(self.to_string())),
        }
        Ok(())
    }
}

impl std::fmt::Display for Scheme {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Scheme::Binary => "binary",
            Scheme::Majority => "majority",
            Scheme::OneVersusRest => "one-versus-rest",
            Scheme::OneVersusOne => "one-versus-one",
            Scheme::Joint => "joint",
            Scheme::Multinomial => "multinomial",
            Scheme::CrammerSinger => "crammer-singer",
            Scheme::MajorityVersusRest => "majority-versus-rest",
            Scheme::Plurality => "plurality",
            Scheme::DecisionList => "decision-list",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Scheme::{Binary, Majority, OneVersusOne, OneVersusRest};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scores_count_the_contests() {
        for k in 2..9 {
            assert_eq!(OneVersusRest.scores(k), Some(k));
            assert_eq!(OneVersusOne.scores(k), Some(Scheme::pairs(k).count()));
        }
        assert_eq!((Binary.scores(2), Binary.scores(3)), (Some(1), None));
        assert_eq!((Majority.scores(2), Majority.scores(3)), (Some(1), None));
        for scheme in [Binary, Majority, OneVersusRest, OneVersusOne] {
            assert_eq!((scheme.scores(0), scheme.scores(1)), (None, None));
        }
        assert_eq!(OneVersusOne.scores(usize::MAX), None);
    }

    #[test]
    fn ties_go_by_the_rules() {
        assert_eq!(Binary.decide(2, &[0.0]), 0);
        assert_eq!(OneVersusRest.decide(3, &[-2.0, -1.0, -1.0]), 1);
        assert_eq!(OneVersusRest.decide(3, &[f64::NAN, 1.0, f64::NAN]), 0);
        // (0, 1), (0, 2), (1, 2): each class wins once; class 2 by the most.
        assert_eq!(OneVersusOne.decide(3, &[-1.0, 3.0, -1.0]), 2);
        assert_eq!(OneVersusOne.decide(3, &[-1.0, 1.0, -1.0]), 0);
        // Class 3 has no weight: the others have as many votes, and their own scores decide.
        let certain = -Scheme::CERTAIN;
        let pairs = [-0.5, 0.25, certain, -1.0, certain, certain];
        assert_eq!(OneVersusOne.decide(4, &pairs), 1);
        // Two votes beat any sum.
        assert_eq!(OneVersusOne.decide(3, &[0.1, 9.0, -0.1]), 1);
    }

    proptest! {
        /// The rules in other words: two classes are one pair, and what a class wins is counted by
        /// hand.
        #[test]
        fn decisions_follow_the_rules(k in 2usize..7, seed in proptest::collection::vec(-3i32..4, 21)) {
            let score = |at: usize| f64::from(seed[at % seed.len()]);
            let rest: Vec<f64> = (0..k).map(score).collect();
            let chosen = OneVersusRest.decide(k, &rest);
            prop_assert!(rest.iter().all(|&other| other <= rest[chosen]));
            prop_assert!(rest[..chosen].iter().all(|&earlier| earlier < rest[chosen]));
            let pairs: Vec<f64> = (0..k * (k - 1) / 2).map(score).collect();
            let standing = |class: usize| {
                let (mut votes, mut sum) = (0, 0.0);
                for ((i, j), &score) in Scheme::pairs(k).zip(&pairs) {
                    votes += usize::from((class == j && score > 0.0) || (class == i && score <= 0.0));
                    sum += if class == j { score } else if class == i { -score } else { 0.0 };
                }
                (votes, sum)
            };
            let chosen = OneVersusOne.decide(k, &pairs);
            prop_assert!((0..k).all(|other| standing(other) <= standing(chosen)));
            prop_assert!((0..chosen).all(|earlier| standing(earlier) < standing(chosen)));
            prop_assert_eq!(OneVersusOne.decide(2, &pairs[..1]), Binary.decide(2, &pairs[..1]));
        }
    }
}
