//! Settings of stochastic gradient.

use super::setting::{Kind, NONE, Setting};
use super::shared::{
    CALLBACK, CLASS_WEIGHT, FIT_INTERCEPT, LOSS, RANDOM_STATE, STANDARDIZE, TIME_LIMIT, VERBOSE,
};

pub(super) const SETTINGS: &[Setting] = &[
    LOSS,
    Setting {
        name: "lam",
        option: Some("lambda"),
        kind: Kind::Number,
        range: ">= 0",
        default: "1e-4",
        command_default: Some("0"),
        sentence: "Weight of the penalty in mean loss + lambda * squared norm",
        python: "With 0 there is no duality gap. C is undefined, because the number of samples of a stream is \
                 unknown.",
        command: "With 0 there is no duality gap, and --epochs reports the norm of the gradient instead.",
        ..NONE
    },
    Setting {
        name: "method",
        option: Some("method"),
        kind: Kind::Choice(&[
            (
                "adaptive",
                "Mixture of adaptive steps and coin betting: any loss, no parameters to tune",
            ),
            ("coin", "Coin betting alone: any loss, no step length"),
            ("sgd", "Stochastic gradient with a step length schedule: any loss"),
            ("pegasos", "Pegasos: the hinge loss"),
            (
                "margin-pursuit",
                "Margin pursuit: that loss, its schedule, the ball of radius 1/sqrt(lambda), and \
                 independent draws from data in memory",
            ),
        ]),
        default: "\"adaptive\"",
        sentence: "Algorithm",
        ..NONE
    },
    Setting {
        name: "schedule",
        option: Some("schedule"),
        kind: Kind::Choice(&[
            ("constant", "STEP"),
            ("inverse-sqrt", "STEP / sqrt(t)"),
            ("inverse-time", "STEP / t"),
            ("bottou", "STEP / (1 + 2 lambda STEP t)"),
            ("margin-pursuit", "1 / (scale sqrt(lambda) t), of the margin-pursuit loss"),
        ]),
        default: "\"bottou\"",
        sentence: "Step length schedule of sgd",
        python: "STEP is {first_step}.",
        ..NONE
    },
    Setting {
        name: "first_step",
        option: Some("step"),
        kind: Kind::Number,
        range: "> 0",
        none: "1, or by the schedule",
        sentence: "First step length of sgd",
        ..NONE
    },
    FIT_INTERCEPT,
    Setting {
        name: "epochs",
        option: Some("epochs"),
        kind: Kind::Whole,
        range: ">= 1",
        none: "10",
        command_default: Some("one pass over a stream"),
        sentence: "Number of passes over data in memory",
        python: "Only `fit` uses it.",
        command: "Reads the data into memory, visits them in shuffled order, and certifies the fit at the \
                  end.",
        ..NONE
    },
    Setting {
        name: "replacement",
        option: Some("with-replacement"),
        kind: Kind::Switch,
        default: "False",
        sentence: "Draw samples independently instead of in shuffled epochs",
        python: "The method margin-pursuit always does.",
        ..NONE
    },
    Setting {
        name: "batch",
        option: Some("batch"),
        kind: Kind::Whole,
        range: ">= 1",
        default: "1",
        sentence: "Mini-batch size of sgd, pegasos or margin-pursuit",
        ..NONE
    },
    Setting {
        name: "average",
        option: Some("average"),
        default: "\"none\"",
        sentence: "Averaging of iterates: `none`, `polyak`, or `suffix:SHARE`",
        more: "`none` returns the last iterate, `polyak` the mean of all iterates, and `suffix` the mean of \
               the last SHARE of the iterates, which needs {epochs}.",
        ..NONE
    },
    Setting {
        name: "radius",
        option: Some("projection"),
        kind: Kind::Number,
        range: "> 0",
        none: "by method",
        sentence: "Radius to project the coefficients to",
        syntax: ", or none",
        more: "Coefficients are projected onto the ball after every step. By default, none for sgd, \
               1/sqrt(2 lambda) for pegasos and 1/sqrt(lambda) for margin-pursuit. The other methods do not project.",
        python: "Infinity is no projection.",
        ..NONE
    },
    Setting {
        name: "start_norm",
        option: Some("random-start"),
        kind: Kind::Number,
        range: "> 0",
        none: "start at 0",
        sentence: "Norm of random initial coefficients of sgd, pegasos or margin-pursuit",
        ..NONE
    },
    Setting {
        name: "hold_out",
        option: Some("hold-out"),
        kind: Kind::Number,
        range: "in (0, 1)",
        sentence: "Share of the samples to hold out for early stopping",
        more: "The fit stops if the loss of the held-out samples has not improved for {patience} epochs.",
        ..NONE
    },
    Setting {
        name: "patience",
        option: Some("patience"),
        kind: Kind::Whole,
        range: ">= 1",
        default: "5",
        sentence: "Number of epochs without improvement before stopping",
        ..NONE
    },
    Setting {
        name: "rescale_at",
        option: Some("rescale-at"),
        kind: Kind::Whole,
        range: ">= 1",
        sentence: "Step after which the scale of margin-pursuit is set from the data",
        more: "The scale is set once, by the rule of Holland (2019), section 4.",
        ..NONE
    },
    Setting {
        name: "rescale_steps",
        option: Some("rescale-steps"),
        kind: Kind::Choice(&[
            (
                "divide",
                "Divided by the factor of the increase of the scale, as printed in the paper",
            ),
            ("keep", "Those of the schedule"),
        ]),
        default: "\"divide\"",
        sentence: "Step lengths after the scale was set",
        ..NONE
    },
    Setting {
        name: "balanced_rows",
        option: Some("balanced-rows"),
        kind: Kind::Whole,
        range: ">= 2",
        none: "all rows",
        sentence: "Number of rows to draw at random and fit to, half of them of each of two classes",
        ..NONE
    },
    STANDARDIZE,
    CLASS_WEIGHT,
    Setting {
        name: "tol",
        option: Some("tol"),
        kind: Kind::Number,
        range: "> 0",
        command_default: Some("1e-6"),
        sentence: "Relative duality gap at which the fit counts as converged",
        python: "A larger gap raises a `ConvergenceWarning`, unless {hold_out} ends the fit. None gives no \
                 warning, because stochastic gradient seldom reaches a small gap; a gap of 1e-6 then counts \
                 as converged.",
        ..NONE
    },
    Setting {
        sentence: "Time limit in seconds; the current epoch is finished first",
        ..TIME_LIMIT
    },
    Setting { sentence: "Random seed of the sample order and of all draws", ..RANDOM_STATE },
    Setting {
        sentence: "Function that `fit` calls with a dictionary for every epoch",
        python: "Its numbers take as long as one or two more epochs. If it returns True, the fit ends at the \
                 current point. An exception ends the fit and is raised.",
        ..CALLBACK
    },
    Setting { sentence: "If True, print a line for every epoch of `fit`", ..VERBOSE },
];
