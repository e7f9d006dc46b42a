//! Settings of fits of a regularised risk.

use super::setting::{Kind, NONE, Setting};
use super::shared::{
    self, CALLBACK, CLASS_WEIGHT, FIT_INTERCEPT, LOSS, N_JOBS, RANDOM_STATE, STANDARDIZE, VERBOSE,
};

pub(super) const CLASSIFIER: &[Setting] = &[
    LOSS,
    C,
    KERNEL,
    GAMMA,
    DEGREE,
    COEF0,
    APPROXIMATION,
    MEMORY,
    CERTIFY_EXACT,
    KEEP_DUALS,
    ENCODE,
    FIT_INTERCEPT,
    STANDARDIZE,
    PENALTY_FACTORS,
    CLASS_WEIGHT,
    MULTI_CLASS,
    PROBABILITY,
    SOLVER,
    TOL,
    MAX_ITER,
    TIME_LIMIT,
    SEED,
    N_JOBS,
    CALLBACK,
    PROGRESS,
    VERBOSE,
];

pub(super) const CROSS_VALIDATED: &[Setting] = &[
    Setting {
        kind: Kind::Other {
            documented: "str or list of str",
            annotation: "str | Sequence[str]",
            native: "str | list[str]",
        },
        python: "The names of scikit-learn are valid as well: `log_loss`, `squared_hinge`, `squared_error` \
                 and `modified_huber`. Of several losses the cross-validation takes that of the lowest error.",
        ..LOSS
    },
    Setting { python: "The fits of the folds have the same C.", ..CS },
    Setting {
        python: "Pass either {Cs} or lambdas. The fits of the folds have the same lambda.",
        ..LAMBDAS
    },
    KERNELS,
    SCALES,
    SIGMAS,
    APPROXIMATION,
    MEMORY,
    CERTIFY_EXACT,
    KEEP_DUALS,
    CV,
    SCORING,
    SELECTION,
    ABANDON_HOPELESS,
    ENCODE,
    FIT_INTERCEPT,
    STANDARDIZE,
    PENALTY_FACTORS,
    CLASS_WEIGHT,
    MULTI_CLASS,
    PROBABILITY,
    SOLVER,
    STOP,
    TOL,
    MAX_ITER,
    TIME_LIMIT,
    SEED,
    N_JOBS,
    CALLBACK,
    PROGRESS,
    VERBOSE,
];

pub(super) const PATH: &[Setting] = &[
    LOSS,
    CS,
    LAMBDAS,
    KERNEL,
    GAMMA,
    DEGREE,
    COEF0,
    APPROXIMATION,
    MEMORY,
    CERTIFY_EXACT,
    Setting {
        sentence: "Keep the dual variables of the fits and their constrained forms",
        python: "They are `duals_` and `constrained_forms_`. Of more than two classes only `multi_class=\"ovr\"` has \
                 them, not the default.",
        ..KEEP_DUALS
    },
    ENCODE,
    FIT_INTERCEPT,
    STANDARDIZE,
    PENALTY_FACTORS,
    CLASS_WEIGHT,
    MULTI_CLASS,
    SOLVER,
    STOP,
    TOL,
    MAX_ITER,
    TIME_LIMIT,
    SEED,
    N_JOBS,
    CALLBACK,
    PROGRESS,
    VERBOSE,
];

pub(super) const ROBUST: &[Setting] = &[
    OBJECTIVE,
    Setting { default: "\"hinge\"", command_default: Some("lhs"), ..LOSS },
    C,
    Setting { python: "The kernel needs an {approximation} by features.", ..KERNEL },
    GAMMA,
    DEGREE,
    COEF0,
    APPROXIMATION,
    ENCODE,
    FIT_INTERCEPT,
    STANDARDIZE,
    CLASS_WEIGHT,
    MULTI_CLASS,
    Setting {
        default: "1e-9",
        command_default: Some("1e-6"),
        python: "For an objective without a gap: the relative decrease over twenty steps below which the \
                 descent ends.",
        ..TOL
    },
    MAX_ITER,
    TIME_LIMIT,
    SEED,
    N_JOBS,
    CALLBACK,
    PROGRESS,
    VERBOSE,
];

const PENALTY_FACTORS: Setting = Setting {
    name: "penalty_factors",
    option: Some("penalty-factor"),
    kind: Kind::Other {
        documented: "array-like of shape (n_features,), dict or None",
        annotation: "Any",
        native: "list[float] | list[tuple[str, float]] | None",
    },
    none: "1 for every feature",
    sentence: "Penalty factor of a feature",
    syntax: ", such as age=0; may be repeated",
    more: "With the factors W the penalty is lambda times the sum of W w^2, as in glmnet. A factor of 0 takes \
           a feature out of the penalty; up to 64 features may have it. With a kernel every factor is 0 or 1, \
           and a feature with the factor 0 is not seen by the kernel: its coefficient stands beside the \
           function of the kernel (partially linear model).",
    python: "A dict maps names, or numbers counted from 0, to factors; features not listed have 1. The name of \
             an encoded column stands for all of its features.",
    command: "The name of an encoded column stands for all of its features. Features without names have their \
              numbers, counted from 1.",
    ..NONE
};

const OBJECTIVE: Setting = Setting {
    name: "objective",
    option: Some("objective"),
    default: "\"margin-distribution:mean=1,variance=1\"",
    command_default: Some("mean loss"),
    sentence: "Robust objective, such as `catoni:alpha=1`",
    more: "`catoni:alpha=1`, `median-of-means:blocks=11`, `margin-distribution:mean=1,variance=1`, or \
           `garg-roth:restarts=10` for the loss garg-roth. \
           `margin-distribution:lambda1=1,lambda2=1,lambda3=1` minimises `||w||^2/2 + lambda1 v - lambda2 m` \
           plus lambda3 times the mean loss, which sets lambda to `1/(2 lambda3)`.",
    python: "Only the margin distribution has a duality gap. It shifts scores, and therefore needs a loss \
             without probabilities.",
    command: "Each has its own solver, so that --solver does not apply.",
    ..NONE
};

const C: Setting = Setting {
    name: "C",
    kind: Kind::Number,
    range: "> 0",
    default: "1.0",
    sentence: "Weight of the loss against the penalty: lambda = 1/(2 n C)",
    python: "Infinity fits a linear classifier without a penalty, for differentiable losses. Its \
             evidence is `gradient_norm_`; only several classes in one problem have a gap.",
    ..NONE
};

const CS: Setting = Setting {
    name: "Cs",
    kind: Kind::Other {
        documented: "array, int or None",
        annotation: "Any",
        native: "list[float] | None",
    },
    none: "33, unless {lambdas} is given",
    sentence: "Values of C, or their number from 1e-4 to 1e4, evenly spaced on a logarithmic scale",
    ..NONE
};

const LAMBDAS: Setting = Setting {
    name: "lambdas",
    option: Some("lambdas"),
    kind: Kind::Other {
        documented: "array or None",
        annotation: "Any",
        native: "list[float] | None",
    },
    command_default: Some("1:1e-7:100"),
    sentence: "Grid of lambdas",
    syntax: ": FIRST:LAST:COUNT or a list",
    more: "A fit minimises the mean loss + lambda * squared norm.",
    python: "Pass either {Cs} or lambdas.",
    command: "The COUNT lambdas are evenly spaced on a logarithmic scale. A list is comma-separated.",
    ..NONE
};

const KERNEL: Setting = Setting {
    name: "kernel",
    option: Some("kernel"),
    kind: Kind::Other {
        documented: "str, callable or None",
        annotation: "str | Callable[[Any, Any], Any] | None",
        native: "str | None",
    },
    none: "linear classifier",
    sentence: "Kernel, such as `gaussian` or `poly:degree=3`",
    more: "`gaussian` (sigma from the data), `gaussian:sigma=0.5`, `laplacian:sigma=1`, `poly:degree=3`, \
           `matern32:length=1`, `matern52:length=1`, `anova:sigma=1`, `bessel:sigma=1,order=1`, `spline`, \
           `sigmoid`, `linear`. Kernels are combined with `+`, `*` and parentheses. `precomputed` reads a \
           kernel matrix instead of features. The values `scale` and `auto` are the rules of gamma in scikit-learn, such as \
           `gaussian:sigma=scale`.",
    python: "`gaussian:sigma=s` is `exp(-s ||x - z||^2)`, where `SVC` calls s gamma; `rbf` is another name of \
             it. `laplacian:sigma=s` is `exp(-s ||x - z||)`, and `poly:degree=d,scale=a,offset=b` is \
             `(a <x, z> + b)^d`. A function of two matrices returns their kernel matrix.",
    ..NONE
};

const KERNELS: Setting = Setting {
    name: "kernels",
    option: Some("or-kernel"),
    kind: Kind::Other {
        documented: "list of str, str or None",
        annotation: "Any",
        native: "list[str] | None",
    },
    none: "linear classifier",
    command_default: Some(""),
    sentence: "Candidate kernels",
    syntax: ", in addition to --kernel; may be repeated",
    python: "Each is written as the kernel of `MarginClassifier`. `precomputed` takes a kernel matrix instead of \
             features and must be the only kernel.",
    ..NONE
};

const SIGMAS: Setting = Setting {
    name: "sigmas",
    option: Some("sigmas"),
    kind: Kind::Other {
        documented: "str, array or None",
        annotation: "Any",
        native: "str | list[float] | None",
    },
    sentence: "Candidate sigmas: `auto:COUNT`, `FIRST:LAST:COUNT` or a list",
    more: "Each kernel given without a sigma is tried with every candidate. Ranges are evenly spaced on a \
           logarithmic scale. `auto` is for gaussian kernels: it ranges from 10 / q10 down to 0.1 / q90, \
           where q10 and q90 are the 0.1 and 0.9 quantiles of the squared distances between rows.",
    command: "A list is comma-separated.",
    ..NONE
};

const SCALES: Setting = Setting {
    name: "scales",
    option: Some("scales"),
    kind: Kind::Other {
        documented: "array or None",
        annotation: "Any",
        native: "list[float] | None",
    },
    command_default: Some(""),
    sentence: "Candidate scales",
    syntax: ", comma-separated",
    more: "Each loss given without its scale, such as `margin-pursuit:gamma=1`, is tried with every \
           candidate, on the same folds. Only the ratio of scale and gamma matters, so that gamma may stay \
           as it is.",
    ..NONE
};

const GAMMA: Setting = Setting {
    name: "gamma",
    kind: Kind::Other {
        documented: "float, \"scale\", \"auto\" or None",
        annotation: "float | str | None",
        native: "",
    },
    none: "the value of the kernel",
    sentence: "Parameter gamma of scikit-learn for a kernel given by its name alone: sigma, or the scale of \
               `poly` and `sigmoid`",
    python: "`\"scale\"` is `1 / (n_features * X.var())` and `\"auto\"` is `1 / n_features`, for X after \
             standardisation. A kernel without this parameter ignores it.",
    ..NONE
};

const DEGREE: Setting = Setting {
    name: "degree",
    kind: Kind::Other { documented: "float or None", annotation: "float | None", native: "" },
    none: "the value of the kernel",
    sentence: "Degree of a kernel given by its name alone",
    ..NONE
};

const COEF0: Setting =
    Setting { name: "coef0", sentence: "Offset of a kernel given by its name alone", ..DEGREE };

const APPROXIMATION: Setting = Setting {
    name: "approximation",
    option: Some("approx"),
    command_default: Some("none"),
    sentence: "Approximation: `cholesky`, `nystrom:m=1000`, `rff:m=2000`",
    more: "For large data. `cholesky` is a pivoted Cholesky factorisation with `tol=1e-8` and `memory=1`, the \
           limit for its factor in gigabytes. `nystrom` uses m landmarks, chosen by leverage scores with \
           `leverage=LAMBDA`. `rff` uses m random Fourier features and is for gaussian kernels.",
    ..NONE
};

const MEMORY: Setting = Setting {
    sentence: "Memory limit for the kernel matrix or a block file",
    more: "An amount such as 2GB. Entries of a larger kernel matrix are recomputed when needed. This is \
           slower, by the time of a few kernel matrices for the hinge and of 20 to 100 per lambda for other \
           losses; the certificate is the same. With {approximation}, the limit is for the inner products \
           of the samples, which the hinge uses. Linear classifiers keep this amount of a larger block file \
           in memory and read the rest in each pass.",
    ..shared::MEMORY
};

const CERTIFY_EXACT: Setting = Setting {
    name: "certify_exact",
    option: Some("certify-exact"),
    kind: Kind::Switch,
    default: "False",
    sentence: "Compute the duality gap for the exact kernel as well, with the approximation `nystrom`",
    more: "This takes one pass over the kernel matrix, which is never stored.",
    ..NONE
};

const KEEP_DUALS: Setting = Setting {
    name: "keep_duals",
    option: Some("duals"),
    kind: Kind::Switch,
    default: "False",
    sentence: "Keep the dual variables of the fit and its constrained form",
    python: "They are `duals_` and `constrained_form_`. The constrained form bounds the norm of the coefficients \
             instead of penalising it; for the leaky hockey stick it is the problem with slacks of its paper. Of more \
             than two classes only `multi_class=\"ovr\"` has them, not the default.",
    ..NONE
};

const ENCODE: Setting = Setting {
    name: "encode",
    option: Some("encode"),
    kind: Kind::Other {
        documented: "bool or dict",
        annotation: "bool | dict[str, Any]",
        native: "bool | dict[str, Any]",
    },
    default: "False",
    command_default: Some(""),
    sentence: "Encode text (one-hot) and missing values (median, indicator)",
    more: "A column of text becomes one feature per category, a column of true and false one feature. \
           Missing values, which are empty cells and words such as NA, are replaced by the median of the \
           column, and an indicator feature is added. The encoding is learned from the training rows, \
           separately in each fold of a cross-validation, and stored in the model, so that prediction takes \
           raw rows.",
    python: "A dict encodes with options: `categorical`, a list of numeric columns to encode as categories; \
             `drop`, a list of columns to drop; `missing`, `\"median\"` or `\"refuse\"`; `missing_words`, a \
             list of the texts that are missing values; and `unknown`, `\"refuse\"` or `\"none\"`, for \
             categories that the training rows lack.",
    ..NONE
};

const MULTI_CLASS: Setting = Setting {
    name: "multi_class",
    option: Some("multi-class"),
    kind: Kind::Choice(&[
        ("ovr", "One-versus-rest: one binary classifier per class"),
        ("ovo", "One-versus-one: one binary classifier per pair of classes"),
        ("joint", "One problem for all classes: the loss of every class against every other"),
        ("multinomial", "Multinomial logistic regression, with the logistic loss"),
        ("crammer-singer", "One problem with the largest hinge over the other classes"),
    ]),
    default: "\"ovo\"",
    command_default: Some(""),
    sentence: "Scheme",
    command: "Without it, more than two classes are an error.",
    python: "The default had the best mean rank by error and log-loss on ten data sets. k classes have k(k - 1)/2 pairs: \
             from some hundred classes on, `\"ovr\"` with its k classifiers takes less time and memory.",
    ..NONE
};

const PROBABILITY: Setting = Setting {
    name: "probability",
    option: Some("probability"),
    kind: Kind::Choice(&[
        ("loss", "Probabilities of the loss; hinge, leaky-relu and garg-roth have none"),
        ("platt", "Platt scaling of cross-validated scores, for any loss"),
    ]),
    default: "\"loss\"",
    sentence: "Probability estimates",
    ..NONE
};

const SOLVER: Setting = Setting {
    name: "solver",
    option: Some("solver"),
    kind: Kind::Choice(&[
        ("auto", "Solver predicted to be fastest"),
        ("mm", "Majorisation-minimisation"),
        ("mm-accelerated", "Majorisation-minimisation with extrapolation"),
        ("newton", "Semismooth Newton, by a dense factorisation or conjugate gradients"),
        ("proximal-newton", "Proximal Newton: any convex loss, linear classifiers"),
        ("sdca", "Stochastic dual coordinate ascent: any convex loss, linear classifiers"),
        (
            "bundle",
            "Cutting planes (bundle method) with line search: any convex loss, linear classifiers",
        ),
        ("lbfgs", "Limited-memory BFGS: differentiable losses, linear classifiers"),
        ("gd", "Gradient descent"),
    ]),
    default: "\"auto\"",
    sentence: "Algorithm",
    command: "--verbose prints the solver that auto chooses.",
    ..NONE
};

const STOP: Setting = Setting {
    name: "stop",
    option: Some("stop"),
    kind: Kind::Choice(&[
        ("gap", "The relative duality gap is within the tolerance, which certifies the fit"),
        (
            "published",
            "The rule of the R package lhsc, which certifies nothing: squared changes below 1e-5 in sum, \
             10,000 iterations per path",
        ),
    ]),
    default: "\"gap\"",
    sentence: "Stopping rule",
    more: "`published` is unaccelerated majorisation-minimisation from the largest lambda down. The path \
           ends at the lambda at which all iterations together reach 10,000. Smaller lambdas have no fit, \
           and cross-validation selects among the lambdas that every path has reached. The reports have \
           the gap that the rule leaves.",
    ..NONE
};

const TOL: Setting = Setting {
    name: "tol",
    option: Some("tol"),
    kind: Kind::Number,
    range: "> 0",
    default: "1e-6",
    sentence: "Relative duality gap to reach",
    ..NONE
};

const MAX_ITER: Setting = Setting {
    name: "max_iter",
    option: Some("max-iterations"),
    kind: Kind::Whole,
    range: ">= 0",
    none: "by solver",
    sentence: "Maximum number of iterations at each lambda",
    more: "By default, 200 for newton, 1000 for proximal-newton and sdca, 2000 for bundle, and 10,000 for \
           mm, lbfgs and gd.",
    ..NONE
};

const TIME_LIMIT: Setting = Setting {
    sentence: "Time limit in seconds, including kernel matrices and factorisations",
    more: "A fit that is not certified by then is returned with the status time-limit. A cross-validation \
           takes lambdas, largest first, over all folds, and selects among those that it has reached.",
    ..super::shared::TIME_LIMIT
};

const SEED: Setting = Setting {
    more: "Seed of the folds, the landmarks and random features, the pairs of rows that set sigma, and the \
           order of the samples in the solver sdca.",
    ..RANDOM_STATE
};

const PROGRESS: Setting = Setting {
    name: "progress",
    kind: Kind::Other { documented: "bool", annotation: "bool", native: "" },
    default: "False",
    sentence: "If True, show a bar of the finished fits; needs the package tqdm",
    ..NONE
};

const CV: Setting = Setting {
    name: "cv",
    option: Some("folds"),
    kind: Kind::Other {
        documented: "int, splitter, array, str or None",
        annotation: "Any",
        native: "int | str | list[str] | tuple[list[str], int] | list[tuple[NDArray[np.int64], \
                 NDArray[np.int64]]] | None",
    },
    none: "5",
    sentence: "Number of stratified folds",
    python: "It is at least 2; by default at most the number of samples of the smallest class with two or \
             more. Instead of a number: any splitter of scikit-learn, such as `ShuffleSplit(10)`, \
             `TimeSeriesSplit()` or `GroupKFold(5)`, or its splits; an array with the name of the fold of every \
             row, a text or a whole number; or, for two classes and a kernel, `\"leave-one-out\"` or \
             `\"one-step\"`, an approximation by one Newton step per sample. A fold whose training samples lack \
             a class misclassifies its samples, with a warning.",
    command: "With --fold-column, each value of the column is a fold; with --folds as well, the values are \
              distributed over that number of folds.",
    ..NONE
};

const SCORING: Setting = Setting {
    name: "scoring",
    option: Some("measure"),
    kind: Kind::Choice(&[
        ("error", "Share of misclassified rows"),
        ("balanced-error", "Mean of the error rates of the classes"),
        ("log-loss", "Mean of -log of the probability of the true class"),
        ("auc", "Area under the ROC curve, two classes"),
        ("brier", "Mean squared error of the probabilities"),
    ]),
    default: "\"error\"",
    sentence: "Measure",
    syntax: ": error, balanced-error, log-loss, auc or brier",
    more: "Lambda and kernel are selected by its mean over the folds. Ties are resolved by the log-loss. \
           `log-loss` and `brier` need a loss with probabilities.",
    command: "The measures are the error rate, the mean error rate per class, the mean negative \
              log-probability of the true class, the area under the ROC curve (two classes), and the mean \
              squared error of the probabilities.",
    python: "The names of scikit-learn are valid as well: `accuracy`, `balanced_accuracy`, `neg_log_loss`, \
             `roc_auc` and `neg_brier_score`.",
    ..NONE
};

const SELECTION: Setting = Setting {
    name: "selection",
    option: Some("select"),
    kind: Kind::Choice(&[
        ("best", "Lambda with the lowest mean error"),
        ("one-se", "Largest lambda within one standard error of the best"),
    ]),
    default: "\"best\"",
    sentence: "Rule to select lambda",
    ..NONE
};

const ABANDON_HOPELESS: Setting = Setting {
    name: "abandon_hopeless",
    option: Some("abandon-hopeless"),
    kind: Kind::Switch,
    default: "False",
    sentence: "Skip clearly worse lambdas in the second half of the folds",
    more: "A lambda is skipped if its error over the first half of the folds is four standard deviations \
           above the error of the best lambda.",
    command: "The table of --verbose marks it as abandoned.",
    ..NONE
};
