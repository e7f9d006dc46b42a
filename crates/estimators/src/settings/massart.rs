//! Settings of halfspaces under Massart noise.

use super::setting::{Kind, NONE, Setting};
use super::shared::{
    CENTRED, ELAPSED, FIT_INTERCEPT, MEMORY, N_JOBS, RANDOM_STATE, TIME_LIMIT, VERBOSE_ELAPSED,
};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        name: "learner",
        option: Some("learner"),
        kind: Kind::Choice(&[
            ("sgd", "Reweighted stochastic gradient"),
            ("cuts", "Cutting planes"),
            ("auto", "Reweighted stochastic gradient over a grid of noise rates and margins"),
            ("perceptron", "Perceptron, for comparison"),
            ("leaky-relu", "Minimum of the LeakyReLU loss, for comparison"),
            ("proper", "Cutting planes of Chen et al. (2020), for comparison"),
            (
                "plane",
                "Lowest 0-1 error of two features, the intercept one of them, for comparison",
            ),
            (
                "partition",
                "Decision list of Diakonikolas et al. (2019), for comparison and two classes",
            ),
        ]),
        default: "\"auto\"",
        command_default: Some("sgd"),
        sentence: "Algorithm",
        ..NONE
    },
    Setting {
        name: "eta",
        option: Some("eta"),
        kind: Kind::Number,
        range: "in [0, 1/2)",
        sentence: "Noise rate: upper bound on the probability of a flipped label (all but auto)",
        ..NONE
    },
    Setting {
        name: "gamma",
        option: Some("gamma"),
        kind: Kind::Number,
        range: "in (0, 1)",
        sentence: "Margin of the best halfspace, after {scale_rows} (all but auto)",
        ..NONE
    },
    Setting {
        name: "epsilon",
        option: Some("epsilon"),
        kind: Kind::Number,
        range: "in (0, 1)",
        default: "0.05",
        sentence: "Target excess of the error over eta",
        ..NONE
    },
    Setting {
        name: "delta",
        option: Some("delta"),
        kind: Kind::Number,
        range: "in (0, 1)",
        default: "0.05",
        sentence: "Failure probability of the learner",
        ..NONE
    },
    Setting {
        name: "plan",
        option: Some("plan"),
        kind: Kind::Choice(&[
            ("practical", "Found by experiment"),
            ("proven", "Those of the proofs of theorems 2.1 (sgd) and B.3 (cuts)"),
        ]),
        default: "\"practical\"",
        sentence: "Numbers of steps and rows (sgd, cuts)",
        more: "For sgd: the step size and the numbers of steps, candidates and held-out rows; the proven plan takes \
               some thousand times as many steps, and its guarantee needs as many rows. For cuts: the proven plan \
               gives each call of the oracle fresh rows, where the practical one has all rows in each call.",
        ..NONE
    },
    Setting {
        name: "steps",
        option: Some("steps"),
        kind: Kind::Whole,
        range: ">= 1",
        none: "as in the plan",
        sentence: "Number of steps T of algorithm 1 (sgd)",
        ..NONE
    },
    Setting {
        name: "step",
        option: Some("step"),
        kind: Kind::Number,
        range: "> 0",
        none: "as in the plan",
        sentence: "Step size of algorithm 1 (sgd)",
        ..NONE
    },
    Setting {
        name: "held_out",
        option: Some("held-out"),
        kind: Kind::Whole,
        range: ">= 1",
        none: "as in the plan",
        sentence: "Largest number of held-out rows N, at most a fifth of all rows (sgd)",
        ..NONE
    },
    Setting {
        name: "candidates",
        option: Some("candidates"),
        kind: Kind::Other {
            documented: "\"all\", int >= 1 or None",
            annotation: "int | str | None",
            native: "int | str | None",
        },
        none: "as in the plan",
        sentence: "Iterates to select from: `all`, or a number of random ones beside the last (sgd)",
        more: "All T + 1 iterates take 8 (T + 1)(d + 1) bytes of memory.",
        ..NONE
    },
    Setting {
        name: "project",
        option: Some("project"),
        kind: Kind::Whole,
        range: ">= 1",
        sentence: "Number of dimensions of a random projection of the features (cuts)",
        more: "The projection costs half of gamma. By default, the dimension is the smallest one proven to \
               keep half of gamma, and nothing is projected if that dimension is not smaller.",
        ..NONE
    },
    Setting {
        name: "localization",
        option: Some("localization"),
        kind: Kind::Choice(&[
            ("analytic-centre", "Analytic centre of the unit ball and the cuts"),
            (
                "ellipsoid",
                "Centre of an ellipsoid around what is left, whose number of calls is proven",
            ),
        ]),
        none: "analytic-centre; ellipsoid with the proven plan",
        sentence: "Point that the oracle is asked about (cuts)",
        ..NONE
    },
    Setting {
        name: "max_calls",
        option: Some("max-calls"),
        kind: Kind::Whole,
        range: ">= 2",
        none: "from gamma and the number of features",
        sentence: "Largest number of calls of the oracle (cuts)",
        more: "The first call cuts off the zero vector.",
        ..NONE
    },
    Setting {
        sentence: "Memory limit for a block file",
        more: "An amount such as 2GB. A file that fits three times is loaded. Rows of a larger one are read in \
               several passes; cutting planes read the file once per cut.",
        ..MEMORY
    },
    FIT_INTERCEPT,
    CENTRED,
    Setting {
        name: "scale_rows",
        option: Some("scale-rows"),
        kind: Kind::Choice(&[
            ("largest", "Largest norm of all rows"),
            ("each", "Norm of each row"),
        ]),
        default: "\"largest\"",
        command_default: Some("largest; each with --stream"),
        sentence: "Norm to divide the rows by",
        more: "After division by the largest norm, margins are proportional to distances from the boundary. \
               After division by its own norm, the margin of each row is the sine of an angle.",
        ..NONE
    },
    Setting { sentence: "Time limit in seconds; returns the best halfspace so far", ..TIME_LIMIT },
    Setting { sentence: "Random seed of the samples and of the projection", ..RANDOM_STATE },
    N_JOBS,
    ELAPSED,
    VERBOSE_ELAPSED,
];
