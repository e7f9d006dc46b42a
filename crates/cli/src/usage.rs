//! Which option is for which method: one table, by which every option that a method cannot use is refused by name.

use clap::ArgMatches;
use clap::parser::ValueSource;
use margins::robust::Learner;

use crate::Failure;
use crate::choices::{FOL, SolverChoice, SolverName};
use crate::massart::MassartLearner;

/// What fits, as far as the options of the command are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// A solver of F with a duality gap, other than gradient descent.
    Certified,
    Gd,
    Sgd,
    Pegasos,
    MedianOfMeans,
    /// A learner with an objective of its own, other than the median of means.
    Robust,
    MassartSgd,
    MassartCuts,
    MassartAuto,
    Focused,
}

use Method::{
    Certified, Focused, Gd, MassartAuto, MassartCuts, MassartSgd, MedianOfMeans, Pegasos, Robust,
    Sgd,
};

impl Method {
    pub(crate) fn of(solver: &SolverChoice) -> Self {
        match solver {
            SolverChoice::Named(SolverName::Gd) => Gd,
            SolverChoice::Named(SolverName::Sgd) => Sgd,
            SolverChoice::Named(SolverName::Pegasos) => Pegasos,
            SolverChoice::Named(_) => Certified,
            SolverChoice::Robust(Learner::MedianOfMeans(_)) => MedianOfMeans,
            SolverChoice::Robust(_) => Robust,
            SolverChoice::Massart(MassartLearner::Sgd) => MassartSgd,
            SolverChoice::Massart(MassartLearner::Cuts) => MassartCuts,
            SolverChoice::Massart(MassartLearner::Auto) => MassartAuto,
            SolverChoice::Focused => Focused,
        }
    }

    /// The names of its solvers, for messages.
    fn names(self) -> &'static str {
        match self {
            Certified => "auto, newton, mm, mm-accelerated, mm-batched, sdca, bundle",
            Gd => "gd",
            Sgd => "sgd",
            Pegasos => "pegasos",
            MedianOfMeans => "median-of-means",
            Robust => "catoni, margin-distribution, garg-roth",
            MassartSgd => "massart-sgd",
            MassartCuts => "massart-cuts",
            MassartAuto => "massart-auto",
            Focused => FOL,
        }
    }
}

/// Solvers of F and the learners with another objective over the same losses.
const OBJECTIVES: &[Method] = &[Certified, Gd, Sgd, Pegasos, MedianOfMeans, Robust];
/// Methods whose fit comes with a gap to a lower bound.
const GAPS: &[Method] = &[Certified, Gd, Sgd, Pegasos, Robust];
/// Methods that take iterations over all samples.
const ITERATIONS: &[Method] = &[Certified, Gd, MedianOfMeans, Robust];
const STOCHASTIC: &[Method] = &[Sgd, Pegasos];

/// The methods that use some options.
struct Rule {
    /// The names of clap.
    options: &'static [&'static str],
    methods: &'static [Method],
    /// What to do instead, for some of the other methods.
    instead: &'static [(&'static [Method], &'static str)],
}

const MASSART: &[Method] = &[MassartSgd, MassartCuts, MassartAuto];

const RULES: &[Rule] = &[
    Rule {
        options: &["lambda"],
        methods: OBJECTIVES,
        instead: &[(MASSART, NO_PENALTY), (&[Focused], NO_PENALTY)],
    },
    Rule {
        options: &["tol"],
        methods: GAPS,
        instead: &[
            (&[MedianOfMeans], "it takes the number of steps that --max-iterations says"),
            (MASSART, "epsilon of --loss massart says how close to the least error it gets"),
            (&[Focused], "it ends when no sample is misclassified, or after --max-steps"),
        ],
    },
    Rule {
        options: &["max_iterations"],
        methods: ITERATIONS,
        instead: &[
            (STOCHASTIC, "say --epochs"),
            (MASSART, "its steps follow from epsilon and gamma of --loss massart"),
            (&[Focused], "say --max-steps"),
        ],
    },
    Rule {
        options: &["time_limit"],
        methods: &[Certified, Gd],
        instead: &[
            (STOCHASTIC, "say --epochs"),
            (&[MedianOfMeans, Robust], "say --max-iterations"),
            (&[Focused], "say --max-steps, or --checkpoint and --pause-at"),
        ],
    },
    Rule {
        options: &["kernel"],
        methods: &[Certified, Gd, MedianOfMeans, Robust, Focused],
        instead: &[(STOCHASTIC, OF_KERNELS)],
    },
    Rule {
        options: &["approx"],
        methods: &[Certified, Gd, MedianOfMeans, Robust],
        instead: &[
            (STOCHASTIC, OF_KERNELS),
            (
                &[Focused],
                "kernel-perceptron:budget=1000 bounds the samples that its kernel is evaluated at",
            ),
        ],
    },
    // Of its values platt is for fewer methods.
    Rule { options: &["probability"], methods: OBJECTIVES, instead: &[] },
    Rule { options: &["multi_class"], methods: &[Certified, Gd], instead: &[] },
    Rule {
        options: &["standardize"],
        methods: OBJECTIVES,
        instead: &[(MASSART, "it scales every row to norm 1, whatever the features are")],
    },
    Rule {
        options: &["class_weight"],
        methods: OBJECTIVES,
        instead: &[(MASSART, "put the weights of the classes into a --weights-column")],
    },
    Rule {
        options: &["no_intercept"],
        methods: &[Certified, Gd, Sgd, Pegasos, MedianOfMeans, Robust, Focused],
        instead: &[(MASSART, "its halfspaces have no intercept")],
    },
    Rule {
        options: &["weights_column"],
        methods: &[
            Certified,
            Gd,
            Sgd,
            Pegasos,
            MedianOfMeans,
            Robust,
            MassartSgd,
            MassartCuts,
            MassartAuto,
        ],
        instead: &[(&[Focused], "every sample counts, for it makes the largest loss small")],
    },
    Rule { options: &["history"], methods: &[Certified, Gd, Sgd, Pegasos], instead: &[] },
    Rule { options: &["project"], methods: &[MassartCuts], instead: &[] },
    Rule {
        options: &["step"],
        methods: &[Gd, Sgd],
        instead: &[(&[Pegasos], "its steps are 1/(2 lambda t)")],
    },
    Rule {
        options: &["schedule", "rescale_at"],
        methods: &[Sgd],
        instead: &[(&[Gd], "say --step"), (&[Pegasos], "its steps are 1/(2 lambda t)")],
    },
    Rule {
        options: &["epochs"],
        methods: STOCHASTIC,
        instead: &[(ITERATIONS, "say --max-iterations"), (&[Focused], "say --max-steps")],
    },
    Rule {
        options: &[
            "average",
            "batch",
            "projection",
            "with_replacement",
            "random_start",
            "hold_out",
            "patience",
        ],
        methods: STOCHASTIC,
        instead: &[],
    },
    Rule {
        options: &["stream", "classes"],
        methods: &[Sgd, Pegasos, MassartSgd],
        instead: &[(&[MassartCuts, MassartAuto], "it needs all rows at once")],
    },
    Rule {
        options: &[
            "learner",
            "max_steps",
            "outputs",
            "combine",
            "slack",
            "subsample",
            "checkpoint",
            "pause_at",
        ],
        methods: &[Focused],
        instead: &[],
    },
];

const NO_PENALTY: &str = "what it makes small has no penalty";
const OF_KERNELS: &str = "--solver gd with --approx nystrom or rff descends on a kernel";

/// Refuses the first option on the command line that the method cannot use.
pub(crate) fn check(given: &ArgMatches, solver: &SolverChoice) -> Result<(), Failure> {
    let method = Method::of(solver);
    let is_given = |option: &str| given.value_source(option) == Some(ValueSource::CommandLine);
    for rule in RULES.iter().filter(|rule| !rule.methods.contains(&method)) {
        let known = |option: &&&str| given.try_contains_id(option).is_ok();
        if let Some(option) = rule.options.iter().filter(known).find(|option| is_given(option)) {
            return Err(refuse(option, rule, method, solver));
        }
    }
    if matches!(method, MedianOfMeans | Robust) && is_given("seed") && !is_given("kernel") {
        return Err(Failure::usage(format!(
            "--seed is not for --solver {solver}: its seed is a parameter of its own"
        )));
    }
    Ok(())
}

fn refuse(option: &str, rule: &Rule, method: Method, solver: &SolverChoice) -> Failure {
    let name = option.replace('_', "-");
    let solver = solver.to_string();
    let solver = solver.split(':').next().unwrap_or_default();
    let reason = match rule.instead.iter().find(|(methods, _)| methods.contains(&method)) {
        Some((_, instead)) => (*instead).to_owned(),
        None => {
            let names: Vec<&str> = rule.methods.iter().map(|method| method.names()).collect();
            format!("it is for {}", names.join(", "))
        }
    };
    Failure::usage(format!("--{name} is not for --solver {solver}: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Arguments;
    use clap::CommandFactory;

    /// The options that every method uses, or that promise something which holds of every method: no result depends on the
    /// threads, and none that draws nothing depends on the seed.
    const OF_ALL: &[&str] = &[
        "data",
        "label",
        "positive",
        "fold_column",
        "columns",
        "data_format",
        "loss",
        "solver",
        "seed",
        "threads",
        "format",
        "lambdas",
        "folds",
        "or_kernel",
        "leave_one_out",
        "abandon_hopeless",
        "select",
        "out",
    ];

    /// An option that is in no rule would be accepted by methods that know nothing of it.
    #[test]
    fn every_option_of_a_fit_has_one_rule() {
        let command = Arguments::command();
        let mut fits: Vec<&str> = Vec::new();
        for name in ["fit", "path", "cv"] {
            let fit = command.find_subcommand(name).expect("a command");
            fits.extend(fit.get_arguments().map(|argument| argument.get_id().as_str()));
        }
        let ruled: Vec<&str> =
            RULES.iter().flat_map(|rule| rule.options).chain(OF_ALL).copied().collect();
        for option in &fits {
            let rules = ruled.iter().filter(|ruled| *ruled == option).count();
            assert_eq!(rules, 1, "{option}");
        }
        for option in ruled {
            assert!(fits.contains(&option), "{option} is no option");
        }
    }
}
