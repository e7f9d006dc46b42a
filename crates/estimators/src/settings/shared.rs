//! Settings that several kinds of estimators have.

use super::setting::{Kind, NONE, Setting};

pub(super) const LOSS: Setting = Setting {
    name: "loss",
    option: Some("loss"),
    default: "\"lhs\"",
    sentence: "Loss, such as `lhs`, `hinge`, `logistic` or `l-r:r=2`",
    more: "A name or `name:parameter=value,...`: `lhs`, `l-r:r=2`, `margin-pursuit:gamma=1,scale=1`, \
           `log-cosh:gamma=1,scale=1`, `hinge`, `squared-hinge`, `smoothed-hinge:width=1`, \
           `modified-huber`, `dwd:q=1`, `logistic`, `exponential`, `squared`, `leaky-relu:lambda=0.1`, \
           `garg-roth:alpha=1,beta=1`, which is not convex: fit it with the robust objective `garg-roth`, or \
           from a stream, without a certificate. The parameters shown are the defaults. \
           `margin-pursuit:gamma=1,scale=auto,k=10` takes the scale from the training data, for a fit at one \
           lambda.",
    python: "The names of scikit-learn are valid as well: `log_loss`, `squared_hinge`, `squared_error` \
             and `modified_huber`.",
    ..NONE
};

pub(super) const CLASS_WEIGHT: Setting = Setting {
    name: "class_weight",
    option: Some("class-weight"),
    kind: Kind::Other {
        documented: "dict, \"balanced\" or None",
        annotation: "Any",
        native: "list[tuple[str, float]] | Literal[\"balanced\"] | None",
    },
    command_default: Some("none"),
    sentence: "Class weights",
    syntax: ": none, balanced or yes=2,no=1",
    more: "`balanced` gives the two sides of a binary problem, or all classes of one problem, the same total \
           weight. A number multiplies the weight of every \
           sample of its class, also in cross-validated errors; classes not listed have 1.",
    python: "A dict maps classes to numbers.",
    ..NONE
};

pub(super) const STANDARDIZE: Setting = Setting {
    name: "standardize",
    option: Some("standardize"),
    kind: Kind::Switch,
    default: "False",
    sentence: "Scale features to unit standard deviation during the fit",
    more: "Linear classifiers use the deviations of the training rows of each fold, kernel classifiers those \
           of all rows.",
    ..NONE
};

pub(super) const CENTRED: Setting = Setting {
    sentence: "Scale features to mean 0 and standard deviation 1; sparse features are not centred",
    more: "The saved model applies to the unscaled features.",
    ..STANDARDIZE
};

pub(super) const FIT_INTERCEPT: Setting = Setting {
    name: "fit_intercept",
    option: Some("no-intercept"),
    kind: Kind::Switch,
    default: "True",
    sentence: "Fix the intercept at 0",
    ..NONE
};

pub(super) const MEMORY: Setting = Setting {
    name: "memory",
    option: Some("memory"),
    kind: Kind::Other {
        documented: "int, str or None",
        annotation: "int | str | None",
        native: "int | str | None",
    },
    none: "half of the free memory",
    python: "An int is a number of bytes.",
    ..NONE
};

pub(super) const TIME_LIMIT: Setting = Setting {
    name: "time_limit",
    option: Some("time-limit"),
    kind: Kind::Number,
    range: ">= 0",
    sentence: "Time limit in seconds",
    ..NONE
};

pub(super) const RANDOM_STATE: Setting = Setting {
    name: "random_state",
    option: Some("seed"),
    kind: Kind::Other { documented: "int, RandomState or None", annotation: "Any", native: "int" },
    none: "1",
    sentence: "Random seed",
    ..NONE
};

pub(super) const N_JOBS: Setting = Setting {
    name: "n_jobs",
    option: Some("threads"),
    kind: Kind::Other { documented: "int or None", annotation: "int | None", native: "int" },
    none: "1",
    command_default: Some("MARGINS_THREADS or all cores"),
    sentence: "Number of threads",
    more: "Results do not depend on it.",
    python: "-1 uses all cores.",
    ..NONE
};

pub(super) const CALLBACK: Setting = Setting {
    name: "callback",
    kind: Kind::Other {
        documented: "callable or None",
        annotation: "Callable[[dict[str, Any]], Any] | None",
        native: "",
    },
    sentence: "Function that is called with a dictionary for every iteration",
    python: "If it returns True, the fit ends at the current point. An exception ends the fit and is raised. \
             The callbacks of scikit-learn 1.9 (`set_callbacks`) see iterations as well.",
    ..NONE
};

pub(super) const ELAPSED: Setting = Setting {
    sentence: "Function that `fit` calls with a dictionary of the seconds `elapsed`, up to fifty times per \
               second",
    python: "An exception ends the fit and is raised.",
    ..CALLBACK
};

pub(super) const VERBOSE: Setting = Setting {
    name: "verbose",
    kind: Kind::Other { documented: "bool", annotation: "bool", native: "" },
    default: "False",
    sentence: "If True, print a line for every iteration",
    ..NONE
};

pub(super) const VERBOSE_ELAPSED: Setting = Setting {
    sentence: "If True, print the elapsed seconds, up to fifty times per second",
    ..VERBOSE
};
