//! Settings of focused online learning, of classifiers and of regression.

use super::setting::{Kind, NONE, Setting};
use super::shared::{
    CENTRED, CLASS_WEIGHT, ELAPSED, FIT_INTERCEPT, LOSS, N_JOBS, RANDOM_STATE, TIME_LIMIT,
    VERBOSE_ELAPSED,
};

const MAX_STEPS: Setting = Setting {
    name: "max_steps",
    option: Some("max-steps"),
    kind: Kind::Whole,
    range: ">= 1",
    none: "by theorem 1",
    sentence: "Maximum number of steps of a game",
    more: "The game ends earlier once every loss is at most {epsilon}. The default is theorem 1 with \
           {delta} and {mistakes}.",
    ..NONE
};

const OUTPUTS: Setting = Setting {
    name: "outputs",
    option: Some("outputs"),
    kind: Kind::Whole,
    range: ">= 1",
    none: "by theorem 1",
    sentence: "Number of classifiers in the ensemble, drawn from random steps",
    ..NONE
};

const DELTA: Setting = Setting {
    name: "delta",
    option: Some("delta"),
    kind: Kind::Number,
    range: "in (0, 1)",
    default: "0.01",
    sentence: "Failure probability of theorem 1 and of the bounds",
    ..NONE
};

const SEED: Setting = Setting { sentence: "Seed of the game", ..RANDOM_STATE };

pub(super) const CLASSIFIER: &[Setting] = &[
    Setting {
        name: "learner",
        option: Some("learner"),
        default: "\"perceptron\"",
        sentence: "Online learner, such as `passive-aggressive:capped=1` or `stump`",
        more: "`perceptron`, `averaged-perceptron`, `passive-aggressive` (`capped=C` for PA-I, `damped=C` for \
               PA-II), `online-gradient:inverse-sqrt=1,radius=5,lambda=1e-3,loss=hinge` (or `constant=STEP`, \
               `inverse-time=STEP`; the loss comes last), `adaptive:loss=logistic` (without a step length), `stump:thresholds=20,eta=0.1`, \
               `kernel-perceptron:budget=1000` (needs {kernel}), \
               `mlp:hidden=32x16,step=0.05,loss=logistic`.",
        ..NONE
    },
    Setting {
        name: "kernel",
        option: Some("kernel"),
        sentence: "Kernel of the kernel perceptron, such as `gaussian` or `poly:degree=3`",
        ..NONE
    },
    Setting {
        default: "\"zero-one\"",
        sentence: "Loss, clipped to [0, 1]: name or `name:parameter=value,...`; `ramp` is the clipped hinge",
        more: "",
        python: "",
        ..LOSS
    },
    Setting {
        name: "epsilon",
        option: Some("epsilon"),
        kind: Kind::Number,
        range: "in (0, 1)",
        default: "0.49",
        sentence: "Target for the largest loss of a row, between 0 and 1",
        more: "The game ends when every row is classified correctly with a loss of at most epsilon.",
        ..NONE
    },
    Setting {
        more: "A class weight multiplies the weight of every sample of its class. The losses of the game are \
               multiplied by the weight of their row divided by the largest one: a row with at most {epsilon} \
               of the largest weight need not be right. `balanced` gives both classes the same total weight, and is \
               refused if this would spare all rows of a class.",
        ..CLASS_WEIGHT
    },
    CENTRED,
    Setting { sentence: "Fix the intercept of a linear learner at 0", ..FIT_INTERCEPT },
    Setting {
        name: "multi_class",
        option: Some("multi-class"),
        kind: Kind::Choice(&[
            ("ovr", "One-versus-rest: one binary classifier per class"),
            ("joint", "One game on the multiclass 0-1 loss by the perceptron of several classes"),
        ]),
        default: "\"ovr\"",
        command_default: Some(""),
        sentence: "Games of more than two classes",
        more: "`ovr` decides for the class with the largest share of votes of its own game, `joint` for the class \
               that most classifiers of one game decide for.",
        command: "A checkpoint of `ovr` has a file for each class: .1, .2, ... is added to its name. Without this \
                  option, more than two classes are an error.",
        ..NONE
    },
    MAX_STEPS,
    OUTPUTS,
    Setting {
        name: "combine",
        option: Some("combine"),
        kind: Kind::Choice(&[
            ("majority", "Majority vote"),
            ("average", "Mean score"),
            ("last", "The learner's classifier at the end"),
            ("validated", "The one with the fewest mistakes on a fifth of the rows, held out"),
        ]),
        default: "\"majority\"",
        sentence: "How the classifiers are combined, or which one is taken",
        more: "With `last` and `validated` the game ends when the present classifier alone reaches {epsilon}.",
        ..NONE
    },
    DELTA,
    Setting {
        name: "mistakes",
        option: Some("mistakes"),
        kind: Kind::Number,
        range: ">= 0",
        none: "the number of rows",
        sentence: "Bound on the mistakes of the learner, for theorem 1",
        more: "With another loss than `zero-one` it bounds the sum of the learner's losses.",
        ..NONE
    },
    Setting {
        name: "margin",
        option: Some("margin"),
        kind: Kind::Number,
        range: "> 0",
        sentence: "Margin of the rows, which bounds the mistakes of the perceptron by (R/margin)^2",
        more: "R is the largest norm of a row as the learner sees it, with a 1 for the intercept. In one game of several \
               classes the bound is 2 (R/margin)^2.",
        ..NONE
    },
    Setting {
        name: "player",
        option: Some("player"),
        kind: Kind::Choice(&[
            ("focused", "Rows with large losses more often (theorem 1)"),
            ("uniform", "All rows equally often: stochastic gradient"),
            ("exp3p", "EXP3.P.1 of Auer et al., which takes a pass over the rows for each step"),
        ]),
        default: "\"focused\"",
        sentence: "Player who draws the rows",
        ..NONE
    },
    Setting {
        name: "slack",
        option: Some("slack"),
        default: "\"auto\"",
        sentence: "Slack for outliers: `auto`, `none` or such as `additive-sum:budget=5`",
        more: "`auto` plays without slack. If some rows remain wrong after the steps of theorem 1, it plays a second \
               game with slack for that many rows, and returns the ensemble that is wrong on fewer rows. In that \
               game `adaptive:loss=logistic` replaces the perceptron. Other forms are `additive-euclidean:budget=5` and `multiplicative:budget=5`.",
        ..NONE
    },
    Setting {
        name: "subsample",
        option: Some("subsample"),
        sentence: "Learn from a random subsample, such as `outliers=5,rare=200`",
        more: "The size is chosen such that the subsample is likely to miss 5 outliers and to have enough of \
               200 rare samples.",
        ..NONE
    },
    Setting {
        name: "checkpoint",
        option: Some("checkpoint"),
        kind: Kind::Other {
            documented: "path or None",
            annotation: "str | PathLike[str] | None",
            native: "str | PathLike[str] | None",
        },
        sentence: "Checkpoint file: save the state regularly, and resume from it if it exists",
        ..NONE
    },
    Setting {
        name: "pause_at",
        option: Some("pause-at"),
        kind: Kind::Whole,
        range: ">= 0",
        sentence: "Pause after this step, to resume later with the same {checkpoint}",
        ..NONE
    },
    Setting {
        sentence: "Time limit in seconds; returns the ensemble so far, and a checkpoint can resume from it",
        ..TIME_LIMIT
    },
    SEED,
    N_JOBS,
    ELAPSED,
    VERBOSE_ELAPSED,
];

pub(super) const REGRESSOR: &[Setting] = &[
    Setting {
        name: "epsilon",
        option: Some("epsilon"),
        kind: Kind::Number,
        range: "in (0, 1)",
        default: "0.1",
        sentence: "Target for the largest error of a row, as a share of the range of the targets",
        more: "The game ends when no error is larger.",
        ..NONE
    },
    Setting {
        name: "norm",
        option: Some("norm"),
        kind: Kind::Number,
        range: "> 0",
        none: "that of the least squares solution, or 1 if it is 0",
        sentence: "Largest norm of the coefficients of a function, with its intercept, for targets in [0, 1]",
        more: "With {standardize} they are those of standardised features. Of several least squares solutions \
               it is the smallest one over standardised features.",
        ..NONE
    },
    Setting {
        more: "Without an intercept they are not centred. Predictions take the unscaled features.",
        ..CENTRED
    },
    Setting { more: "The smallest target is then the prediction at 0.", ..FIT_INTERCEPT },
    Setting {
        none: "by theorem 1 for example 2",
        sentence: "Maximum number of steps",
        more: "The game ends earlier once every error is at most {epsilon}.",
        ..MAX_STEPS
    },
    Setting { sentence: "Number of functions in the mean, taken before random steps", ..OUTPUTS },
    Setting { sentence: "Failure probability of theorem 1", ..DELTA },
    Setting { sentence: "Time limit in seconds; keeps the functions so far", ..TIME_LIMIT },
    SEED,
    ELAPSED,
    VERBOSE_ELAPSED,
];
