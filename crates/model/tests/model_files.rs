//! Model files: nothing is lost in either format, files are read as they were written, and no bytes
//! do harm.

#![cfg(feature = "serde")]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use margins_calibration::probability::PlattScaling;
use margins_data::encode::{EncodeOptions, Encoding, RawColumn, RawTable};
use margins_data::{Design, read};
use margins_kernel_functions::{
    Anova, Gaussian, Kernel, KernelRegistry, Linear, Product, Sum, combine,
};
use margins_losses::{Hinge, LeakyHockeyStick, Logistic, MarginLoss};
use margins_model::{
    Basis, DecisionList, Divisor, Error, Format, Functions, Header, Member, Model, ModelPath,
    Registry, Scheme, TrainingSummary,
};
use nalgebra::DMatrix;
use proptest::prelude::*;
use serde::de::DeserializeSeed;
use serde_json::json;

const FORMATS: [Format; 2] = [Format::Json, Format::Binary];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn load(bytes: &[u8]) -> Result<Model, Error> {
    Model::from_bytes(bytes, &Registry::standard())
}

/// Numbers of every size, and every kind of zero.
fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        -10.0..10.0f64,
        Just(0.0),
        Just(-0.0),
        any::<f64>().prop_filter("finite", |x| x.is_finite())
    ]
}

fn summary() -> impl Strategy<Value = TrainingSummary> {
    let number = || proptest::option::of(finite());
    (any::<u32>(), any::<bool>(), number(), number(), number(), any::<bool>()).prop_map(
        |(rows, standardize, objective, dual_objective, relative_gap, converged)| TrainingSummary {
            rows: rows as usize,
            standardize,
            objective,
            dual_objective,
            relative_gap,
            converged,
        },
    )
}

fn platt() -> impl Strategy<Value = PlattScaling> {
    (finite(), finite(), finite(), finite(), any::<u32>()).prop_map(
        |(center, spread, slope, intercept, iterations)| {
            let spread = spread.abs();
            let slope = if spread == 0.0 { 0.0 } else { slope };
            let numbers = json!({
                "center": center, "spread": spread, "slope": slope, "intercept": intercept, "iterations": iterations,
            });
            serde_json::from_value(numbers).expect("a scaling")
        },
    )
}

/// Rows of p numbers.
fn rows(count: std::ops::Range<usize>, p: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    proptest::collection::vec(proptest::collection::vec(finite(), p), count)
}

fn sparse(rows: &[Vec<f64>], p: usize) -> Design {
    let stored =
        |row: &Vec<f64>| row.iter().copied().enumerate().filter(|(_, x)| *x > 0.0).collect();
    let rows: Vec<Vec<(usize, f64)>> = rows.iter().map(stored).collect();
    Design::from_sparse_rows(&rows, p).expect("columns in order")
}

/// The functions of a model of p features; `None` for the features themselves.
fn basis(p: usize) -> impl Strategy<Value = Option<Basis>> {
    let scales = proptest::option::of(proptest::collection::vec(0.1..10.0f64, p));
    let kernel = prop_oneof![
        Just("gaussian:sigma=0.3+poly:degree=2"),
        Just("(gaussian:sigma=0.3+poly:degree=2)*linear"),
        Just("linear*(linear*(linear+anova:sigma=1e-30))+(linear+linear)"),
    ];
    (0..4, rows(1..5, p), scales, kernel).prop_map(move |(kind, rows, scales, kernel)| {
        let kernel = KernelRegistry::standard().parse(kernel).expect("a kernel");
        let dense = || Design::from_rows(&rows).expect("finite");
        let functions = match kind {
            0 => return None,
            1 => Functions::Sections(dense()),
            2 => Functions::Sections(sparse(&rows, p)),
            _ => Functions::Fourier(dense()),
        };
        Some(Basis::new(&*kernel, scales, functions).expect("a basis"))
    })
}

fn models() -> impl Strategy<Value = Model> {
    let scheme = prop_oneof![
        Just((Scheme::Binary, 2)),
        (2usize..5).prop_map(|k| (Scheme::OneVersusRest, k)),
        (2usize..5).prop_map(|k| (Scheme::OneVersusOne, k)),
        Just((Scheme::Majority, 2)),
        (2usize..5).prop_map(|k| (Scheme::MajorityVersusRest, k)),
        (2usize..5).prop_map(|k| (Scheme::Joint, k)),
        (2usize..5).prop_map(|k| (Scheme::Multinomial, k)),
        (2usize..5).prop_map(|k| (Scheme::Plurality, k)),
        Just((Scheme::DecisionList, 2)),
    ];
    (scheme, 1usize..5, 1usize..5)
        .prop_flat_map(|((scheme, classes), p, voters)| {
            let members = match scheme {
                Scheme::Majority | Scheme::DecisionList => voters,
                Scheme::MajorityVersusRest => votes_of(classes, voters).iter().sum(),
                Scheme::Plurality => classes * voters,
                _ => scheme.scores(classes).expect("a scheme for as many"),
            };
            basis(p).prop_flat_map(move |basis| {
                let basis = basis.filter(|_| scheme != Scheme::DecisionList);
                let functions = basis.as_ref().map_or(p, Basis::len);
                let member = (
                    proptest::option::of(1e-9..1e3f64),
                    finite(),
                    proptest::collection::vec(finite(), functions),
                    summary(),
                    proptest::option::of(platt()),
                );
                let member = member.prop_map(|(lambda, intercept, coef, training, platt)| Member {
                    lambda,
                    intercept,
                    coef,
                    training,
                    platt,
                });
                let names = proptest::option::of(proptest::collection::vec("\\PC{0,6}", p));
                (
                    Just((scheme, classes, voters, basis)),
                    proptest::collection::vec(member, members),
                    names,
                )
            })
        })
        .prop_map(|((scheme, classes, voters, basis), mut members, names)| {
            let votes = votes_of(classes, voters);
            let classes = (0..classes).map(|k| format!("Klasse \"{k}\"\u{1F600}")).collect();
            let loss: &dyn MarginLoss =
                if members.len() == 1 { &LeakyHockeyStick } else { &Logistic };
            if scheme == Scheme::MajorityVersusRest {
                let groups = votes.iter().map(|&count| members.drain(..count).collect()).collect();
                return Model::from_majorities(loss, classes, names, basis, groups)
                    .expect("a model");
            }
            if scheme == Scheme::DecisionList {
                // The sizes of coefficients make thresholds of every size.
                let sizes = members[1..].iter().map(|member| member.intercept.abs());
                let thresholds = sizes.chain([0.0]).collect();
                let number = members[0].intercept.abs();
                let divisor = match members.len() % 2 {
                    0 => Divisor::Number(number),
                    _ => Divisor::Norm(number),
                };
                let list = DecisionList { thresholds, divisor };
                return Model::from_decision_list(loss, classes, names, members, list)
                    .expect("a model");
            }
            Model::from_members(loss, classes, scheme, names, basis, members).expect("a model")
        })
}

/// Returns some number of votes for each class.
fn votes_of(classes: usize, voters: usize) -> Vec<usize> {
    (0..classes).map(|class| 1 + (voters + class) % 3).collect()
}

proptest! {
    #[test]
    fn nothing_is_lost(model in models()) {
        for format in FORMATS {
            let bytes = model.to_bytes(format).unwrap();
            let read = load(&bytes).unwrap();
            prop_assert_eq!(&read, &model);
            // Equal numbers may differ in the sign of a zero; equal bytes may not.
            prop_assert_eq!(read.to_bytes(Format::Binary).unwrap(), model.to_bytes(Format::Binary).unwrap());
        }
        let value = serde_json::to_value(&model).unwrap();
        prop_assert_eq!(serde_json::from_value::<Model>(value).unwrap(), model);
    }

    /// A kernel of sums and products is another one after a reader that forgets its parentheses:
    /// scores tell.
    #[test]
    fn nested_kernels_score_alike_after_a_file(
        weights in proptest::collection::vec(-2.0..2.0f64, 30),
        stored_sparsely in any::<bool>(),
    ) {
        let registry = Registry::standard();
        let rows: Vec<Vec<f64>> = weights.chunks_exact(3).map(<[f64]>::to_vec).collect();
        let design = if stored_sparsely { sparse(&rows, 3) } else { Design::from_rows(&rows).unwrap() };
        let sum = || -> Box<dyn Kernel> {
            let anova = Box::new(Anova::new(0.5, 2.0).unwrap());
            Box::new(Sum(Box::new(Linear), anova))
        };
        let kernel = Product(sum(), Box::new(Product(Box::new(Gaussian::new(0.1).unwrap()), sum())));
        let coef = &weights[..3];
        let sections = design.select(&[0, 4, 2]);
        let want = combine(&kernel, &design, &sections, coef).unwrap();
        let basis = Basis::new(&kernel, None, Functions::Sections(sections)).unwrap();
        let member = Member {
            lambda: Some(0.1),
            intercept: 0.0,
            coef: coef.to_vec(),
            training: TrainingSummary::uncertified(10),
            platt: None,
        };
        let classes = vec!["0".to_owned(), "1".to_owned()];
        let model = Model::from_members(&Hinge, classes, Scheme::Binary, None, Some(basis), vec![member]);
        for format in FORMATS {
            let read = load(&model.as_ref().unwrap().to_bytes(format).unwrap()).unwrap();
            prop_assert_eq!(&read.decision_function(&design, &registry).unwrap(), &want);
        }
    }

    /// Every member scores as it would alone, and the scheme decides.
    #[test]
    fn members_score_together_as_they_do_alone(
        scheme in prop_oneof![Just(Scheme::OneVersusRest), Just(Scheme::OneVersusOne)],
        weights in proptest::collection::vec(-2.0..2.0f64, 30),
        kernel in any::<bool>(),
    ) {
        let registry = Registry::standard();
        let design = Design::from_rows(&weights.chunks_exact(3).collect::<Vec<_>>()).unwrap();
        let gaussian = registry.kernels.parse("gaussian:sigma=0.7").unwrap();
        let sections = Functions::Sections(design.select(&[0, 4, 2]));
        let basis = kernel.then(|| Basis::new(&*gaussian, Some(vec![1.0, 0.5, 2.0]), sections).unwrap());
        let member = |m: usize| Member {
            lambda: Some(0.1),
            intercept: weights[m],
            coef: (0..3).map(|j| weights[(3 * m + 7 * j) % 30]).collect(),
            training: TrainingSummary::uncertified(10),
            platt: None,
        };
        let members: Vec<Member> = (0..scheme.scores(4).unwrap()).map(member).collect();
        let classes: Vec<String> = (0..4).map(|k| k.to_string()).collect();
        let model = Model::from_members(&Hinge, classes, scheme, None, basis.clone(), members.clone()).unwrap();
        let scores = model.decision_functions(&design, &registry).unwrap();
        prop_assert_eq!(scores.shape(), (10, members.len()));
        for (m, member) in members.into_iter().enumerate() {
            let classes = vec!["0".to_owned(), "1".to_owned()];
            let alone = Model::from_members(&Hinge, classes, Scheme::Binary, None, basis.clone(), vec![member]);
            let alone = alone.unwrap().decision_function(&design, &registry).unwrap();
            prop_assert!((scores.column(m) - DMatrix::from_vec(10, 1, alone)).amax() < 1e-12);
        }
        for (i, class) in model.predict(&design, &registry).unwrap().into_iter().enumerate() {
            let row: Vec<f64> = scores.row(i).iter().copied().collect();
            prop_assert_eq!(class, scheme.decide(4, &row));
        }
    }
}

proptest! {
    /// A majority scores by the share of its members' votes, has no probabilities, and is the same
    /// from a file.
    #[test]
    fn a_majority_votes(
        weights in proptest::collection::vec(-2.0..2.0f64, 30), voters in 1usize..40, kernel in any::<bool>(),
    ) {
        let registry = Registry::standard();
        let design = Design::from_rows(&weights.chunks_exact(3).collect::<Vec<_>>()).unwrap();
        let gaussian = registry.kernels.parse("gaussian:sigma=0.7").unwrap();
        let sections = Functions::Sections(design.select(&[0, 4, 2]));
        let basis = kernel.then(|| Basis::new(&*gaussian, None, sections).unwrap());
        let member = |m: usize| Member {
            lambda: None,
            intercept: weights[m % 30],
            coef: (0..3).map(|j| weights[(3 * m + 7 * j) % 30]).collect(),
            training: TrainingSummary::uncertified(10),
            platt: None,
        };
        let members: Vec<Member> = (0..voters).map(member).collect();
        let classes = || vec!["no".to_owned(), "yes".to_owned()];
        let vote = Model::from_members(&Logistic, classes(), Scheme::Majority, None, basis.clone(), members.clone());
        let vote = vote.unwrap();
        let mut votes = [0.0; 10];
        for member in members {
            let alone = Model::from_members(&Logistic, classes(), Scheme::Binary, None, basis.clone(), vec![member]);
            let scores = alone.unwrap().decision_function(&design, &registry).unwrap();
            votes.iter_mut().zip(scores).for_each(|(sum, score)| *sum += if score > 0.0 { 1.0 } else { -1.0 });
        }
        let scores = votes.map(|sum| sum / voters as f64).to_vec();
        prop_assert_eq!(vote.scores_per_sample(), 1);
        prop_assert_eq!(&vote.decision_function(&design, &registry).unwrap(), &scores);
        let decided: Vec<usize> = scores.iter().map(|&score| usize::from(score > 0.0)).collect();
        prop_assert_eq!(vote.predict(&design, &registry).unwrap(), decided);
        let columns = vote.decision_functions(&design, &registry).unwrap();
        prop_assert!(matches!(vote.class_probabilities(&columns, &Logistic), Err(Error::NoProbabilities(_))));
        prop_assert_eq!(vote.probability(&Logistic, 0.5), None);
        for format in FORMATS {
            let read = load(&vote.to_bytes(format).unwrap()).unwrap();
            prop_assert_eq!(&read.decision_function(&design, &registry).unwrap(), &scores);
        }
    }

    /// The score of each class is that of its own members alone, the largest one decides, and the
    /// model is the same from a file.
    #[test]
    fn a_majority_of_each_class_against_the_rest_votes(
        weights in proptest::collection::vec(-2.0..2.0f64, 30), voters in 1usize..40, kernel in any::<bool>(),
    ) {
        let registry = Registry::standard();
        let design = Design::from_rows(&weights.chunks_exact(3).collect::<Vec<_>>()).unwrap();
        let gaussian = registry.kernels.parse("gaussian:sigma=0.7").unwrap();
        let sections = Functions::Sections(design.select(&[0, 4, 2]));
        let basis = kernel.then(|| Basis::new(&*gaussian, None, sections).unwrap());
        let member = |m: usize| Member {
            lambda: None,
            intercept: weights[m % 30],
            coef: (0..3).map(|j| weights[(3 * m + 7 * j) % 30]).collect(),
            training: TrainingSummary::uncertified(10),
            platt: None,
        };
        let groups: Vec<Vec<Member>> =
            (0..3).map(|k| (0..voters + k).map(|m| member(5 * k + m)).collect()).collect();
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let vote = Model::from_majorities(&Logistic, names, None, basis.clone(), groups.clone()).unwrap();
        prop_assert_eq!(&*vote.votes(), &[voters, voters + 1, voters + 2]);
        let scores = vote.decision_functions(&design, &registry).unwrap();
        for (class, members) in groups.into_iter().enumerate() {
            let classes = vec!["no".to_owned(), "yes".to_owned()];
            let alone = Model::from_members(&Logistic, classes, Scheme::Majority, None, basis.clone(), members);
            let alone = alone.unwrap().decision_function(&design, &registry).unwrap();
            prop_assert_eq!(scores.column(class).iter().copied().collect::<Vec<f64>>(), alone);
        }
        for (row, class) in vote.predict(&design, &registry).unwrap().into_iter().enumerate() {
            let best = (0..3).fold(0, |best, k| if scores[(row, k)] > scores[(row, best)] { k } else { best });
            prop_assert_eq!(class, best);
        }
        prop_assert!(matches!(vote.class_probabilities(&scores, &Logistic), Err(Error::NoProbabilities(_))));
        for format in FORMATS {
            let read = load(&vote.to_bytes(format).unwrap()).unwrap();
            prop_assert_eq!(&read, &vote);
        }
    }
}

proptest! {
    /// Every voter decides as one-versus-rest classifiers do, the shares count their decisions, and the
    /// largest one decides.
    #[test]
    fn a_plurality_counts_what_its_voters_decide(
        weights in proptest::collection::vec(-2.0..2.0f64, 30), voters in 1usize..40, kernel in any::<bool>(),
    ) {
        let registry = Registry::standard();
        let design = Design::from_rows(&weights.chunks_exact(3).collect::<Vec<_>>()).unwrap();
        let gaussian = registry.kernels.parse("gaussian:sigma=0.7").unwrap();
        let sections = Functions::Sections(design.select(&[0, 4, 2]));
        let basis = kernel.then(|| Basis::new(&*gaussian, None, sections).unwrap());
        let member = |m: usize| Member {
            lambda: None,
            intercept: weights[m % 30],
            coef: (0..3).map(|j| weights[(3 * m + 7 * j) % 30]).collect(),
            training: TrainingSummary::uncertified(10),
            platt: None,
        };
        let members: Vec<Member> = (0..3 * voters).map(member).collect();
        let of = |scheme: Scheme, members: &[Member]| {
            let names = ["a", "b", "c"].map(str::to_owned).to_vec();
            Model::from_members(&Logistic, names, scheme, None, basis.clone(), members.to_vec())
        };
        let vote = of(Scheme::Plurality, &members).unwrap();
        prop_assert_eq!((&*vote.votes(), vote.scores_per_sample()), (&[voters; 3][..], 3));
        let mut counts = vec![[0.0; 3]; 10];
        for voter in members.chunks_exact(3) {
            let alone = of(Scheme::OneVersusRest, voter).unwrap();
            let decided = alone.predict(&design, &registry).unwrap();
            counts.iter_mut().zip(decided).for_each(|(counts, class)| counts[class] += 1.0);
        }
        let scores = vote.decision_functions(&design, &registry).unwrap();
        let decided = vote.predict(&design, &registry).unwrap();
        for (row, counts) in counts.iter().enumerate() {
            let n = voters as f64;
            prop_assert!((0..3).all(|k| (scores[(row, k)] - (2.0 * counts[k] / n - 1.0)).abs() < 1e-12));
            let best = (0..3).fold(0, |best, k| if counts[k] > counts[best] { k } else { best });
            prop_assert_eq!(decided[row], best);
        }
        prop_assert!(matches!(vote.class_probabilities(&scores, &Logistic), Err(Error::NoProbabilities(_))));
        for count in [0, 3 * voters - 1] {
            let refused = message(of(Scheme::Plurality, &members[..count]));
            prop_assert!(refused.contains("which are not 3 a voter"), "{refused}");
        }
    }

    /// The first member whose divided score reaches its threshold decides, by the definition; the model
    /// is the same from a file, and has no probabilities.
    #[test]
    fn the_first_score_beyond_its_threshold_decides(
        weights in proptest::collection::vec(-2.0..2.0f64, 30),
        thresholds in proptest::collection::vec(0.0..2.0f64, 0..5),
        number in 0.0..3.0f64,
        by_norm in any::<bool>(),
    ) {
        let registry = Registry::standard();
        let rows: Vec<&[f64]> = weights.chunks_exact(3).collect();
        let design = Design::from_rows(&rows).unwrap();
        let thresholds: Vec<f64> = thresholds.into_iter().chain([0.0]).collect();
        let member = |m: usize| Member {
            lambda: None,
            intercept: weights[m],
            coef: (0..3).map(|j| weights[(3 * m + 7 * j) % 30]).collect(),
            training: TrainingSummary::uncertified(10),
            platt: None,
        };
        let members: Vec<Member> = (0..thresholds.len()).map(member).collect();
        let divisor = if by_norm { Divisor::Norm(number) } else { Divisor::Number(number) };
        let list = DecisionList { thresholds: thresholds.clone(), divisor };
        let classes = vec!["no".to_owned(), "yes".to_owned()];
        let model = Model::from_decision_list(&Hinge, classes, None, members.clone(), list).unwrap();
        let expected = rows.iter().map(|row| {
            let squares: f64 = row.iter().map(|x| x * x).sum();
            let divisor = if by_norm { (squares + number * number).sqrt() } else { number };
            let score = |member: &Member| {
                let score: f64 = row.iter().zip(&member.coef).map(|(x, w)| x * w).sum();
                if divisor > 0.0 { (score + member.intercept) / divisor } else { 0.0 }
            };
            let scores: Vec<f64> = members.iter().map(score).collect();
            let decides = (0..scores.len()).find(|&k| scores[k].abs() >= thresholds[k]).unwrap();
            scores[decides]
        });
        let scores = model.decision_function(&design, &registry).unwrap();
        for (score, expected) in scores.iter().zip(expected) {
            prop_assert!((score - expected).abs() < 1e-9 * expected.abs().max(1.0), "{score} {expected}");
        }
        let decided: Vec<usize> = scores.iter().map(|&score| usize::from(score > 0.0)).collect();
        prop_assert_eq!(model.predict(&design, &registry).unwrap(), decided);
        let columns = model.decision_functions(&design, &registry).unwrap();
        prop_assert!(matches!(model.class_probabilities(&columns, &Logistic), Err(Error::NoProbabilities(_))));
        prop_assert_eq!(model.probability(&Logistic, 0.5), None);
        for format in FORMATS {
            let read = load(&model.to_bytes(format).unwrap()).unwrap();
            prop_assert_eq!(&read, &model);
            prop_assert_eq!(&read.decision_function(&design, &registry).unwrap(), &scores);
        }
    }
}

/// A sample of norm 0 has the score 0, and a rule that is none is refused.
#[test]
fn a_decision_list_has_a_threshold_for_each_member() {
    let member = Member {
        lambda: None,
        intercept: 0.0,
        coef: vec![1.0, -1.0],
        training: TrainingSummary::uncertified(1),
        platt: None,
    };
    let of = |thresholds: &[f64], members: usize, divisor: Divisor| {
        let list = DecisionList { thresholds: thresholds.to_vec(), divisor };
        let classes = vec!["no".to_owned(), "yes".to_owned()];
        Model::from_decision_list(&Hinge, classes, None, vec![member.clone(); members], list)
    };
    let zero = Design::from_rows(&[[0.0, 0.0]]).unwrap();
    let model = of(&[0.5, 0.0], 2, Divisor::Norm(0.0)).unwrap();
    assert_eq!(model.decision_function(&zero, &Registry::standard()).unwrap(), [0.0]);
    let cases: [(&[f64], usize, f64, &str); 7] = [
        (&[0.5, 0.0], 1, 1.0, "2 thresholds for 1 members"),
        (&[], 0, 1.0, "it has 0 members"),
        (&[0.5, 0.1], 2, 1.0, "but must be at least 0, and the last 0"),
        (&[-0.5, 0.0], 2, 1.0, "are [-0.5, 0.0]"),
        (&[f64::NAN, 0.0], 2, 1.0, "are [NaN, 0.0]"),
        (&[0.5, 0.0], 2, f64::INFINITY, "the divisor of its decision list is inf"),
        (&[0.5, 0.0], 2, -1.0, "the divisor of its decision list is -1"),
    ];
    for (thresholds, members, divisor, told) in cases {
        let refused = message(of(thresholds, members, Divisor::Number(divisor)));
        assert!(refused.contains(told), "{refused}");
    }
    let (classes, members) = (vec!["no".to_owned(), "yes".to_owned()], vec![member]);
    let without = Model::from_members(&Hinge, classes, Scheme::DecisionList, None, None, members);
    assert!(message(without).contains("no thresholds for its decision list"));
}

/// A file has the version that its scheme needs.
#[test]
fn the_version_is_that_of_what_is_written() {
    for (name, models) in models_of_fixtures() {
        for format in FORMATS {
            let bytes = models.to_bytes(format).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("model");
            std::fs::write(&path, bytes).unwrap();
            let (header, _) = ModelPath::load_with_header(&path, &Registry::standard()).unwrap();
            assert_eq!(header.version, version_of(name), "{name}");
        }
    }
}

/// The version of the file of a fixture.
fn version_of(name: &str) -> u32 {
    match name {
        "sparse-path" => 2,
        "votes" | "list" | "joint" => 3,
        "joint-path" => 4,
        _ => 1,
    }
}

#[test]
fn a_majority_is_of_two_classes_and_has_members() {
    let member = Member {
        lambda: None,
        intercept: 0.0,
        coef: vec![1.0],
        training: TrainingSummary::uncertified(1),
        platt: None,
    };
    let of = |classes: usize, members: usize| {
        let classes = (0..classes).map(|k| k.to_string()).collect();
        let members = vec![member.clone(); members];
        Model::from_members(&Hinge, classes, Scheme::Majority, None, None, members)
    };
    assert!(of(2, 1).is_ok() && of(2, 4).is_ok());
    assert!(message(of(3, 3)).contains("majority is not for 3 classes"));
    assert!(message(of(2, 0)).contains("it has 0 members"));
    let of = |votes: &[usize]| {
        let members = votes.iter().map(|&count| vec![member.clone(); count]).collect();
        let classes = (0..3).map(|k| k.to_string()).collect();
        Model::from_majorities(&Hinge, classes, None, None, members)
    };
    assert!(of(&[1, 2, 1]).is_ok());
    assert!(message(of(&[1, 2])).contains("its 3 members are divided into [1, 2] for 3 classes"));
    assert!(message(of(&[1, 0, 2])).contains("[1, 0, 2]"));
    let members = vec![member; 3];
    let classes = (0..3).map(|k| k.to_string()).collect();
    let without =
        Model::from_members(&Hinge, classes, Scheme::MajorityVersusRest, None, None, members);
    assert!(message(without).contains("divided into [] for 3 classes"));
}

/// A majority for each of three classes, of the members of a model of three.
fn votes(of: &Model) -> Model {
    let members = [1, 2, 3].map(|count| of.members()[..count].to_vec()).to_vec();
    let names = of.feature_names().map(<[String]>::to_vec);
    Model::from_majorities(&Logistic, of.classes().to_vec(), names, None, members).expect("votes")
}

/// A decision list of the members of a model of three classes.
fn list(of: &Model) -> Model {
    let (names, members) = (of.feature_names().map(<[String]>::to_vec), of.members().to_vec());
    let list = DecisionList { thresholds: vec![0.5, 0.25, 0.0], divisor: Divisor::Norm(1.0) };
    Model::from_decision_list(&Hinge, of.classes()[1..].to_vec(), names, members, list)
        .expect("a list")
}

/// The models of the fixtures: the four fits, whose JSON is their source, and what is made from them.
fn models_of_fixtures() -> Vec<(&'static str, ModelPath)> {
    let registry = Registry::standard();
    let of = |name: &str| Model::load(fixtures().join(name), &registry).expect("a fixture");
    let several = |scheme: Scheme, of: &Model| {
        let member = |m: usize| {
            let mut member = of.members()[0].clone();
            member.intercept -= m as f64 / 2.0;
            member.coef.rotate_left(m);
            member
        };
        let members = (0..3).map(member).collect();
        let classes = ["low", "middle", "high"].map(str::to_owned).to_vec();
        let (names, basis) = (of.feature_names().map(<[String]>::to_vec), of.basis().cloned());
        Model::from_members(&Logistic, classes, scheme, names, basis, members).expect("a model")
    };
    let data = read::dataset(fixtures().join("dense.csv"), &Default::default()).expect("data");
    let scaled = |of: &Model| {
        let scores = of.decision_functions(data.design(), &registry).expect("scores");
        let signs: Vec<f64> = data.labels().signs().to_vec();
        let member = |(member, scores): (&Member, nalgebra::DVectorView<'_, f64>)| {
            let platt = PlattScaling::fit(scores.as_slice(), &signs).expect("a scaling");
            Member { platt: Some(platt), ..member.clone() }
        };
        let members = of.members().iter().zip(scores.column_iter()).map(member).collect();
        let (classes, names) = (of.classes().to_vec(), of.feature_names().map(<[String]>::to_vec));
        let basis = of.basis().cloned();
        Model::from_members(&Hinge, classes, of.scheme(), names, basis, members).expect("a model")
    };
    let models = [
        ("linear", of("linear.json")),
        ("kernel", of("kernel.json")),
        ("sparse-kernel", of("sparse-kernel.json")),
        ("fourier", of("fourier.json")),
        ("rest", several(Scheme::OneVersusRest, &of("linear.json"))),
        ("one", several(Scheme::OneVersusOne, &of("sparse-kernel.json"))),
        ("platt", scaled(&several(Scheme::OneVersusRest, &of("linear.json")))),
        ("votes", votes(&several(Scheme::OneVersusRest, &of("linear.json")))),
        ("list", list(&several(Scheme::OneVersusRest, &of("linear.json")))),
        ("joint", several(Scheme::Joint, &of("linear.json"))),
    ];
    let path = path_of(&of("sparse-kernel.json"), &[0.5, 0.05, 0.005]);
    let joint_path = path_of(&several(Scheme::Joint, &of("linear.json")), &[0.5, 0.05]);
    models
        .map(|(name, model)| (name, model.into()))
        .into_iter()
        .chain([("sparse-path", path), ("joint-path", joint_path)])
        .collect()
}

/// The scores of the samples that a fixture was fitted to, one line per sample, and their
/// probabilities by scalings.
fn scores(name: &str, models: &ModelPath) -> String {
    let data = match name.contains("sparse") || name.contains("one") {
        true => "sparse.svm",
        false => "dense.csv",
    };
    let data = read::dataset(fixtures().join(data), &Default::default()).expect("data");
    models.lambdas().into_iter().fold(String::new(), |text, lambda| {
        let model = models.at(lambda).expect("a lambda of the path");
        let scores = model.decision_functions(data.design(), &Registry::standard());
        scores.expect("scores").row_iter().fold(text, |mut text, row| {
            let scaled = |(member, score): (&Member, &f64)| Some(member.platt?.probability(*score));
            let probabilities = model.members().iter().zip(row.iter()).filter_map(scaled);
            let numbers = row.iter().copied().chain(probabilities);
            let row: Vec<String> = numbers.map(|number| format!("{number:?}")).collect();
            writeln!(text, "{}", row.join(",")).expect("text grows");
            text
        })
    })
}

/// The path of a model with other coefficients at each lambda, at most 1.
fn path_of(of: &Model, lambdas: &[f64]) -> ModelPath {
    let members = lambdas.iter().flat_map(|&lambda| {
        of.members().iter().map(move |member| Member {
            lambda: Some(lambda),
            coef: member.coef.iter().map(|a| a * lambda.sqrt()).collect(),
            ..member.clone()
        })
    });
    let (names, basis) = (of.feature_names().map(<[String]>::to_vec), of.basis().cloned());
    let (loss, classes) = (&LeakyHockeyStick, of.classes().to_vec());
    ModelPath::from_members(loss, classes, of.scheme(), names, basis, members.collect())
        .expect("a path")
}

proptest! {
    /// A file of a path has the model of every lambda, to the bit, and a model alone has the file of a
    /// path of one lambda.
    #[test]
    fn a_path_keeps_every_model(model in models(), count in 2usize..5) {
        prop_assume!(!model.scheme().scores_together());
        let lambdas: Vec<f64> = (0..count).map(|k| 0.1f64.powi(k as i32)).collect();
        let path = path_of(&model, &lambdas);
        prop_assert_eq!(path.lambdas(), lambdas.clone());
        for format in FORMATS {
            let bytes = path.to_bytes(format).unwrap();
            let read = ModelPath::from_bytes(&bytes, &Registry::standard()).unwrap();
            prop_assert_eq!(&read, &path);
            prop_assert_eq!(read.to_bytes(Format::Binary).unwrap(), path.to_bytes(Format::Binary).unwrap());
            for (&lambda, members) in lambdas.iter().zip(path.steps()) {
                let at = read.at(lambda).unwrap();
                prop_assert_eq!(at.members(), members);
                prop_assert_eq!((at.classes(), at.basis()), (model.classes(), model.basis()));
                let alone = ModelPath::from(at.clone());
                prop_assert_eq!(alone.to_bytes(format).unwrap(), at.to_bytes(format).unwrap());
                prop_assert_eq!(alone.into_only().unwrap(), at);
            }
            // A model is not one of several at random.
            let refused = load(&bytes).unwrap_err();
            let is_named = matches!(refused, Error::SeveralLambdas { count: found, .. } if found == count);
            prop_assert!(is_named, "{}", refused);
        }
    }
}

#[test]
fn a_lambda_that_was_not_fitted_is_refused_with_its_neighbours() {
    let of = Model::load(fixtures().join("kernel.json"), &Registry::standard()).unwrap();
    let path = path_of(&of, &[1.0, 0.031_622_776_6, 0.001]);
    // The six digits of a table are enough.
    assert_eq!(path.at(0.031_622_8).unwrap().members()[0].lambda, Some(0.031_622_776_6));
    let refused = |lambda: f64| message(path.at(lambda));
    insta::assert_snapshot!(
        [refused(0.5), refused(3.0), refused(1e-9), refused(0.0316)].join("\n")
    );
    let member = |lambda: Option<f64>| Member { lambda, ..of.members()[0].clone() };
    let build = |members: Vec<Member>| {
        let (classes, basis) = (of.classes().to_vec(), of.basis().cloned());
        message(ModelPath::from_members(&Hinge, classes, Scheme::Binary, None, basis, members))
    };
    let short = Member { coef: vec![1.0], ..member(Some(0.1)) };
    insta::assert_snapshot!(
        [
            build(vec![member(Some(0.1)), member(Some(1.0))]),
            build(vec![member(Some(1.0)), member(Some(1.0))]),
            build(vec![member(Some(1.0)), member(None)]),
            build(vec![member(Some(1.0)), short]),
            message(path.into_only()),
        ]
        .join("\n")
    );
    let rest =
        path_of(&Model::load(fixtures().join("rest.json"), &Registry::standard()).unwrap(), &[1.0]);
    let members: Vec<Member> =
        rest.first().members().iter().chain(&rest.first().members()[..1]).cloned().collect();
    let classes = rest.first().classes().to_vec();
    let refused =
        ModelPath::from_members(&Hinge, classes, Scheme::OneVersusRest, None, None, members);
    assert_eq!(message(refused), "not a usable model: step 2 of the path has 1 members, not 3");
}

/// A sparse kernel model of three classes, byte by byte as docs/model-files.md has it.
#[test]
fn the_layout_is_the_documented_one() {
    let long = |number: usize| (number as u64).to_le_bytes().to_vec();
    let text = |text: &str| [long(text.len()), text.as_bytes().to_vec()].concat();
    let numbers = |numbers: &[f64]| {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        [long(numbers.len()), bytes.collect()].concat()
    };
    let some = |value: Vec<u8>| [vec![1], value].concat();
    let half = |number: u32| number.to_le_bytes().to_vec();
    let fit = [
        0.25f64.to_le_bytes().to_vec(),
        long(7),
        vec![1],
        some(1.5f64.to_le_bytes().to_vec()),
        some(1.25f64.to_le_bytes().to_vec()),
        vec![0],
        vec![1],
    ]
    .concat();
    let scaling = [1.0f64, 2.0, -0.5, 0.25].map(|number| number.to_le_bytes().to_vec());
    let scaling = [scaling.concat(), long(4)].concat();
    let fits = [fit.clone(), vec![0], fit.clone(), vec![0], fit, some(scaling)].concat();
    let description = [
        text(env!("CARGO_PKG_VERSION")),
        text("l-r:r=2"),
        some(text("gaussian:sigma=0.5")),
        half(1),
        [long(3), text("a"), text("b"), text("c")].concat(),
        some([long(3), text("x"), text("y"), text("z")].concat()),
        [long(3), fits].concat(),
        vec![0],
        some(text("|i1")),
    ]
    .concat();
    let coef = numbers(&[2.0, 0.5, -0.5]);
    let parts = [
        numbers(&[1.0, 2.0, 3.0]),
        [long(3), coef.repeat(3)].concat(),
        some(numbers(&[1.0, 10.0])),
        [long(1), half(1)].concat(),
        [half(2), half(2), long(3), long(0), long(1), long(1)].concat(),
        [long(1), half(1), numbers(&[4.0])].concat(),
    ]
    .concat();
    let prefix = [b"\x89MGN\r\n\x1a\n".to_vec(), half(1), half(0)].concat();
    let lengths = [long(description.len()), long(parts.len())].concat();
    let bytes = sealed([prefix, lengths, description, parts].concat());

    let registry = Registry::standard();
    let sections = Design::from_sparse_rows(&[vec![(1, 4.0)], vec![]], 2).unwrap();
    let kernel = registry.kernels.parse("gaussian:sigma=0.5").unwrap();
    let basis = Basis::new(&*kernel, Some(vec![1.0, 10.0]), Functions::Sections(sections)).unwrap();
    let basis = basis.with_linear(vec![1]).unwrap();
    let training = TrainingSummary {
        rows: 7,
        standardize: true,
        objective: Some(1.5),
        dual_objective: Some(1.25),
        relative_gap: None,
        converged: true,
    };
    let scaling = json!({
        "center": 1.0, "spread": 2.0, "slope": -0.5, "intercept": 0.25, "iterations": 4,
    });
    let scaling: PlattScaling = serde_json::from_value(scaling).unwrap();
    let member = |m| Member {
        lambda: Some(0.25),
        intercept: f64::from(m),
        coef: vec![2.0, 0.5, -0.5],
        training: training.clone(),
        platt: (m == 3).then_some(scaling),
    };
    let model = Model::from_members(
        &*registry.losses.parse("l-r").unwrap(),
        ["a", "b", "c"].map(str::to_owned).to_vec(),
        Scheme::OneVersusRest,
        Some(["x", "y", "z"].map(str::to_owned).to_vec()),
        Some(basis),
        (1..4).map(member).collect(),
    )
    .unwrap()
    .with_label_type(Some("|i1".to_owned()));
    assert_eq!(model.to_bytes(Format::Binary).unwrap(), bytes);
    assert_eq!(load(&bytes).unwrap(), model);
}

/// Every file gives the scores, to the bit, that it gave when it was written.
#[test]
fn files_score_as_when_they_were_written() {
    let mut seen = Vec::new();
    for entry in std::fs::read_dir(fixtures()).expect("the folder of fixtures") {
        let path = entry.expect("an entry").path();
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("json") => Format::Json,
            Some("mgn") => Format::Binary,
            _ => continue,
        };
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        let (header, models) =
            ModelPath::load_with_header(&path, &Registry::standard()).expect(&name);
        assert_eq!((header.format, header.version), (format, version_of(&name)));
        let recorded = std::fs::read_to_string(path.with_extension("scores")).expect("scores");
        assert_eq!(scores(&name, &models), recorded, "{name}");
        seen.push(path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned());
    }
    seen.sort();
    assert_eq!(seen.len(), 2 * models_of_fixtures().len(), "{seen:?}");
}

/// To be run once when the layout changes: `cargo test -p margins-model --test model_files --
/// --ignored`.
#[test]
#[ignore = "writes the fixtures"]
fn write_fixtures() {
    for (name, models) in models_of_fixtures() {
        let path = fixtures().join(name);
        models.save(path.with_extension("json")).expect("written");
        models.save(path.with_extension("mgn")).expect("written");
        std::fs::write(path.with_extension("scores"), scores(name, &models)).expect("written");
    }
}

/// The rows that the fixture of an encoded model was fitted to, instead of a file.
fn raw_rows() -> RawTable {
    let towns = [Some("Bern"), None, Some("Basel"), Some("Bern")];
    let ages = RawColumn::numbers("age", &[31.5, f64::NAN, 45.0, 28.0]).expect("finite");
    RawTable::from_columns(vec![ages, RawColumn::words("town", towns)]).expect("four rows")
}

fn encoded() -> Model {
    let encoding = Encoding::learn(&raw_rows(), None, EncodeOptions::default()).expect("columns");
    let coef = vec![0.25, -1.0, 2.0, 0.5, -0.125];
    let training = TrainingSummary::uncertified(4);
    let member = Member { lambda: Some(0.5), intercept: -8.0, coef, training, platt: None };
    let (classes, names) = (vec!["a".to_owned(), "b".to_owned()], encoding.feature_names());
    Model::from_members(&Logistic, classes, Scheme::Binary, Some(names), None, vec![member])
        .and_then(|model| model.with_encoding(Some(encoding)))
        .expect("a model")
}

/// Writes the fixtures of encoded models, as [`write_fixtures`] does the others.
#[test]
#[ignore = "writes the fixtures"]
fn write_encoded_fixtures() {
    for extension in ["json", "mgn"] {
        let path = |name: &str| fixtures().join("encoded").join(name).with_extension(extension);
        encoded().save(path("untyped")).expect("written");
        typed().save(path("typed")).expect("written");
    }
}

#[test]
fn encoded_models_take_raw_rows_as_when_they_were_written() {
    for name in ["encoded/untyped.json", "encoded/untyped.mgn"] {
        let registry = Registry::standard();
        let (header, model) =
            Model::load_with_header(fixtures().join(name), &registry).expect("a fixture");
        assert_eq!((header.version, &model), (1, &encoded()), "{name}");
        for format in [Format::Json, Format::Binary] {
            let bytes = model.to_bytes(format).expect("bytes");
            assert_eq!(Model::from_bytes(&bytes, &registry).expect("a model"), model);
        }
        let design = model.encoding().expect("an encoding").encode(&raw_rows()).expect("known");
        // By hand: the median of the ages is 31.5; a gap has its indicator.
        let expected = [1.875, -1.25, 3.75, 1.0];
        assert_eq!(model.decision_function(&design, &registry).expect("finite"), expected);
    }
}

/// An encoded model whose labels had a type.
fn typed() -> Model {
    encoded().with_label_type(Some("<U1".to_owned()))
}

#[test]
fn files_keep_the_type_of_labels() {
    for format in [Format::Json, Format::Binary] {
        let bytes = typed().to_bytes(format).expect("bytes");
        assert_eq!(load(&bytes).expect("a model"), typed());
    }
    for name in ["encoded/typed.json", "encoded/typed.mgn"] {
        let registry = Registry::standard();
        let (header, model) =
            Model::load_with_header(fixtures().join(name), &registry).expect("a fixture");
        assert_eq!((header.version, model), (1, typed()), "{name}");
    }
}

#[test]
fn wrong_encodings_are_refused() {
    let text = std::fs::read_to_string(fixtures().join("encoded/untyped.json")).expect("a fixture");
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        load(text.replacen(from, to, 1).as_bytes()).unwrap_err().to_string()
    };
    insta::assert_snapshot!(
        [
            refused("\"Basel\"", "\"Bern\""),
            refused("\"Basel\"", "\"Rome\""),
            refused("\"gaps\": true", "\"gaps\": false"),
            refused("\"gaps\": true", "\"holes\": true"),
        ]
        .join("\n")
    );
}

/// The checksum repaired, so that what stands behind it is reached.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() >= 16 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[..12]);
        hasher.update(&bytes[16..]);
        bytes[12..16].copy_from_slice(&hasher.finalize().to_le_bytes());
    }
    bytes
}

fn binary(name: &str) -> Vec<u8> {
    let path = fixtures().join(name).with_extension("mgn");
    std::fs::read(path).expect("a fixture")
}

#[test]
fn every_truncation_and_every_flipped_bit_is_found() {
    for name in ["kernel", "sparse-kernel", "platt", "sparse-path"] {
        let whole = binary(name);
        for length in 0..whole.len() {
            assert!(load(&whole[..length]).is_err(), "{name} to {length}");
            assert!(load(&sealed(whole[..length].to_vec())).is_err(), "{name} sealed to {length}");
        }
        for bit in 0..8 * whole.len() {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(load(&flipped).is_err(), "{name}, bit {bit}");
        }
    }
}

proptest! {
    #[test]
    fn random_bytes_are_no_model(bytes in proptest::collection::vec(any::<u8>(), 0..300), place in 0usize..3) {
        prop_assert!(load(&bytes).is_err());
        // The same behind a prefix that holds.
        let description = place * bytes.len() / 2;
        let mut whole = b"\x89MGN\r\n\x1a\n\x02\0\0\0\0\0\0\0".to_vec();
        whole.extend((description as u64).to_le_bytes());
        whole.extend((bytes.len() as u64 - description as u64).to_le_bytes());
        whole.extend(bytes);
        prop_assert!(load(&sealed(whole)).is_err());
    }

    /// What a changed byte leaves readable is a model that is written and read again.
    #[test]
    fn changed_bytes_behind_a_good_checksum_do_no_harm(
        name in prop_oneof![Just("kernel"), Just("sparse-kernel"), Just("fourier"), Just("platt")],
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = binary(name);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(model) = load(&sealed(bytes)) {
            prop_assert_eq!(load(&model.to_bytes(Format::Binary).unwrap()).unwrap(), model);
        }
    }

    #[test]
    fn changed_text_does_no_harm(
        name in prop_oneof![Just("linear"), Just("kernel"), Just("sparse-kernel"), Just("platt")],
        at in any::<proptest::sample::Index>(),
        length in 0usize..9,
        replacement in prop_oneof![
            "[0-9]{1,20}", Just("1e999".to_owned()), Just("null".to_owned()), Just("[[[[".to_owned()),
            Just("\"".to_owned()), Just("-0".to_owned()), Just("4294967296".to_owned()),
        ],
    ) {
        let mut text = std::fs::read(fixtures().join(name).with_extension("json")).unwrap();
        let at = at.index(text.len());
        let end = (at + length).min(text.len());
        text.splice(at..end, replacement.into_bytes());
        if let Ok(model) = load(&text) {
            prop_assert_eq!(load(&model.to_bytes(Format::Json).unwrap()).unwrap(), model);
        }
    }
}

/// Lengths in the file of 2^63, 2^32 and such, written over every 8 bytes.
#[test]
fn absurd_lengths_are_refused() {
    for name in ["kernel", "sparse-kernel", "fourier", "one", "platt"] {
        let whole = binary(name);
        for at in 16..whole.len() - 8 {
            for length in [u64::MAX, 1 << 63, 1 << 40, 1 << 32, 1 << 31] {
                let mut bytes = whole.clone();
                bytes[at..at + 8].copy_from_slice(&length.to_le_bytes());
                // Some places hold numbers that may be anything.
                if let Ok(model) = load(&sealed(bytes)) {
                    assert!(model.columns() < 100, "{name}, {at}, {length}");
                }
            }
        }
    }
}

/// `(1 - u)^4`, which no registry has by itself.
#[derive(Debug)]
struct Quartic;

impl MarginLoss for Quartic {
    fn name(&self) -> &str {
        "quartic"
    }
    fn value(&self, u: f64) -> f64 {
        (1.0 - u).powi(4)
    }
    fn derivative(&self, u: f64) -> f64 {
        -4.0 * (1.0 - u).powi(3)
    }
}

/// serde reads the losses and kernels of the project, or of a given registry.
#[test]
fn foreign_losses_are_read_by_a_registry() {
    let of = load(&std::fs::read(fixtures().join("linear.json")).unwrap()).unwrap();
    let (classes, members) = (of.classes().to_vec(), of.members().to_vec());
    let model =
        Model::from_members(&Quartic, classes, of.scheme(), None, None, members).expect("a model");
    let value = serde_json::to_value(&model).unwrap();
    let refused = serde_json::from_value::<Model>(value.clone()).unwrap_err().to_string();
    assert!(refused.contains("Registry::with_loss(\"quartic\""), "{refused}");
    let registry = Registry::standard().with_loss("quartic", &[], |_| Ok(Box::new(Quartic)));
    assert_eq!(registry.deserialize(value.clone()).unwrap(), model);
    for (field, wrong, reason) in [
        ("format", json!("recipe"), "its format is 'recipe'"),
        ("version", json!(6), "it has model version 6"),
        ("classes", json!(["a"]), "binary is not for 1 classes"),
    ] {
        let mut value = value.clone();
        value[field] = wrong;
        let refused = registry.deserialize(value).unwrap_err().to_string();
        assert!(refused.contains(reason), "{refused}");
    }
}

fn message(result: Result<impl std::fmt::Debug, Error>) -> String {
    result.expect_err("refused").to_string()
}

#[test]
fn refusals_name_place_and_value() {
    let whole = binary("kernel");
    let patched = |at: usize, bytes: &[u8]| {
        let mut patched = whole.clone();
        patched[at..at + bytes.len()].copy_from_slice(bytes);
        sealed(patched)
    };
    let text = std::fs::read_to_string(fixtures().join("rest.json")).unwrap();
    let replaced = |from: &str, to: &str| text.replacen(from, to, 1).into_bytes();
    let mut damaged = whole.clone();
    damaged[100] ^= 1;
    let as_text: Vec<u8> = String::from_utf8_lossy(&whole).replace("\r\n", "\n").into_bytes();
    // The offsets, 9 of them, stand before the columns, 4 bytes each, and the values, 15 each.
    let mut sparse_patched = binary("sparse-kernel");
    let offset = sparse_patched.len() - (8 + 15 * 8) - (8 + 15 * 4) - 8 * 8;
    sparse_patched[offset] = 200;
    let sparse_patched = sealed(sparse_patched);
    let mut cases = vec![
        ("empty", vec![]),
        ("something else", b"height,width\n1,2\n".to_vec()),
        ("short", whole[..20].to_vec()),
        ("cut", whole[..200].to_vec()),
        ("through text", [&whole[..4], &as_text[5..]].concat()),
        ("one bit", damaged),
        ("another version", patched(8, &[6])),
        ("long description", patched(16, &(1u64 << 40).to_le_bytes())),
        ("two parts that overflow", patched(24, &u64::MAX.to_le_bytes())),
        ("long text", patched(32, &(1u64 << 50).to_le_bytes())),
        ("long list", patched(whole.len() - 24 * 8 - 8, &(1u64 << 50).to_le_bytes())),
        ("offsets out of order", sparse_patched),
        ("not a number", patched(whole.len() - 8, &f64::NAN.to_le_bytes())),
    ];
    cases.extend([
        ("another format", replaced("margins-model", "recipe")),
        ("JSON of another version", replaced("\"version\": 1", "\"version\": 7")),
        ("JSON without version", replaced("\"version\": 1,", "")),
        ("an unknown field", replaced("\"scheme\"", "\"schema\"")),
        ("an unknown scheme", replaced("one-versus-rest", "all")),
        ("a member too many for its scheme", replaced("one-versus-rest", "binary")),
        ("one class twice", replaced("\"middle\"", "\"low\"")),
        ("a negative lambda", replaced("\"lambda\": 0.01", "\"lambda\": -0.01")),
        ("infinite", replaced("\"intercept\": ", "\"intercept\": 1e999, \"x\": ")),
        ("a name less", replaced("\"height\",", "")),
        ("an unknown loss", replaced("logistic", "logitsic")),
        ("half", text.as_bytes()[..text.len() / 2].to_vec()),
    ]);
    let kernel = std::fs::read_to_string(fixtures().join("kernel.json")).unwrap();
    cases.push(("an unknown kernel", kernel.replace("gaussian:", "brownian:").into_bytes()));
    cases.push(("an infinite sigma", kernel.replace("sigma=0.5", "sigma=inf").into_bytes()));
    // The last scaling, four numbers and the steps, stands before two absent options at the end of
    // the description.
    let scaled = binary("platt");
    let length = scaled[16..24].iter().rev().fold(0, |length, &byte| 256 * length + byte as usize);
    let with_scaling = |number: usize, value: f64| {
        let at = 32 + length - 2 - 8 * (5 - number);
        let mut bytes = scaled.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        sealed(bytes)
    };
    cases.extend([
        ("a center that is not a number", with_scaling(0, f64::NAN)),
        ("an infinite spread", with_scaling(1, f64::INFINITY)),
        ("a spread of 0", with_scaling(1, 0.0)),
        ("a slope that is not a number", with_scaling(2, f64::NAN)),
        ("an infinite intercept", with_scaling(3, f64::NEG_INFINITY)),
    ]);
    let text = std::fs::read_to_string(fixtures().join("platt.json")).unwrap();
    let replaced = |from: &str, to: &str| text.replacen(from, to, 1).into_bytes();
    cases.extend([
        ("a slope that is null", replaced("\"slope\": ", "\"slope\": null, \"x\": ")),
        ("a negative spread", replaced("\"spread\": ", "\"spread\": -")),
        ("half a scaling", replaced("\"spread\": ", "\"spreads\": ")),
    ]);
    let report = cases.into_iter().fold(String::new(), |mut report, (what, bytes)| {
        writeln!(report, "{what}:\n  {}", message(load(&bytes))).expect("text grows");
        report
    });
    insta::assert_snapshot!(report);
}

#[test]
fn what_is_no_model_is_refused_when_it_is_built() {
    let member = |coef: &[f64]| Member {
        lambda: Some(0.1),
        intercept: 0.0,
        coef: coef.to_vec(),
        training: TrainingSummary::uncertified(1),
        platt: None,
    };
    let model = |scheme, classes: &[&str], members: Vec<Member>| {
        let classes = classes.iter().map(|&class| class.to_owned()).collect();
        message(Model::from_members(&Hinge, classes, scheme, None, None, members))
    };
    let two = ["a", "b"];
    let report = [
        model(Scheme::Binary, &["a"], vec![member(&[1.0])]),
        model(Scheme::Binary, &two, vec![]),
        model(Scheme::OneVersusOne, &["a", "b", "c"], vec![member(&[1.0])]),
        model(Scheme::Binary, &["1", "1.0"], vec![member(&[1.0])]),
        model(Scheme::Binary, &two, vec![member(&[])]),
        model(Scheme::Binary, &two, vec![member(&[f64::NAN])]),
        model(Scheme::OneVersusRest, &two, vec![member(&[1.0]), member(&[1.0, 2.0])]),
    ];
    insta::assert_snapshot!(report.join("\n"));
}

#[test]
fn one_score_a_sample_is_asked_of_binary_models_alone() {
    let registry = Registry::standard();
    let model = Model::load(fixtures().join("rest.mgn"), &registry).unwrap();
    let design = Design::from_rows(&[[1.0, 2.0]]).unwrap();
    insta::assert_snapshot!(message(model.decision_function(&design, &registry)));
}

#[test]
fn the_name_of_a_file_chooses_its_format() {
    let registry = Registry::standard();
    let folder = tempfile::tempdir().unwrap();
    let model = Model::load(fixtures().join("kernel.json"), &registry).unwrap();
    for (name, format) in [
        ("a.json", Format::Json),
        ("b.JSON", Format::Json),
        ("c.mgn", Format::Binary),
        ("json", Format::Binary),
    ] {
        let path = folder.path().join(name);
        model.save(&path).unwrap();
        let (header, read) = Model::load_with_header(&path, &registry).unwrap();
        let Header { format: found, length, version, .. } = header;
        assert_eq!((found, version, read), (format, 1, model.clone()));
        assert_eq!(length as u64, std::fs::metadata(&path).unwrap().len());
        let other = if format == Format::Json { Format::Binary } else { Format::Json };
        model.save_as(&path, other).unwrap();
        assert_eq!(Model::load_with_header(&path, &registry).unwrap().0.format, other);
    }
    let absent = Model::load(folder.path().join("absent.mgn"), &registry);
    assert!(matches!(absent, Err(Error::File { .. })), "{absent:?}");
}

/// No class and no probability follows from a score that overflowed: the row is named.
#[test]
fn scores_that_overflow_are_refused() {
    let registry = Registry::standard();
    let rows = [[1.0, 1.0], [1e308, -1e308], [1e308, 1e308]];
    for (scheme, count) in [
        (Scheme::Binary, 2),
        (Scheme::OneVersusRest, 3),
        (Scheme::OneVersusOne, 3),
        (Scheme::Majority, 2),
    ] {
        let member = Member {
            lambda: None,
            intercept: 0.0,
            coef: vec![1e10, 1e10],
            training: TrainingSummary::uncertified(1),
            platt: None,
        };
        let classes: Vec<String> = (0..count).map(|k| k.to_string()).collect();
        let members = vec![member; scheme.scores(count).unwrap()];
        let model = Model::from_members(&Logistic, classes, scheme, None, None, members).unwrap();
        let refused = |rows: &[[f64; 2]]| {
            let design = Design::from_rows(rows).unwrap();
            let scores = message(model.decision_functions(&design, &registry));
            assert_eq!(scores, message(model.predict(&design, &registry)));
            scores
        };
        // NaN, or inf where multiplication and addition are one operation: the sign of what is left
        // is worth nothing.
        assert!(refused(&rows).starts_with("row 2: the score is "), "{}", refused(&rows));
        let third = refused(&[rows[0], rows[0], rows[2]]);
        assert!(third.starts_with("row 3: the score is inf"), "{third}");
    }
}
