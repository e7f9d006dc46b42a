//! Settings of focused online learning.

use super::setting::{Kind, NONE, Setting};
use super::shared::{
    CENTRED, ELAPSED, FIT_INTERCEPT, LOSS, N_JOBS, RANDOM_STATE, TIME_LIMIT, VERBOSE_ELAPSED,
};

pub(super) const SETTINGS: &[Setting] = &[
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
    CENTRED,
    Setting { sentence: "Fix the intercept of a linear learner at 0", ..FIT_INTERCEPT },
    Setting {
        name: "max_steps",
        option: Some("max-steps"),
        kind: Kind::Whole,
        range: ">= 1",
        none: "by theorem 1",
        sentence: "Maximum number of steps of a game",
        more: "The game ends earlier once every loss is at most {epsilon}. The default is theorem 1 for a \
               learner that makes as many mistakes as there are samples.",
        ..NONE
    },
    Setting {
        name: "outputs",
        option: Some("outputs"),
        kind: Kind::Whole,
        range: ">= 1",
        none: "by theorem 1",
        sentence: "Number of classifiers in the ensemble, drawn from random steps",
        ..NONE
    },
    Setting {
        name: "combine",
        option: Some("combine"),
        kind: Kind::Choice(&[("majority", "Majority vote"), ("average", "Mean score")]),
        default: "\"majority\"",
        sentence: "How the classifiers are combined",
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
    Setting { sentence: "Seed of the game", ..RANDOM_STATE },
    N_JOBS,
    ELAPSED,
    VERBOSE_ELAPSED,
];
