//! Names in other programs for the losses here, so that messages can suggest ours.

/// The names of losses in scikit-learn, LIBLINEAR, xgboost and packages of R, with ours.
pub(crate) const FOREIGN_NAMES: [(&str, &str); 23] = [
    ("log-loss", "logistic"),
    ("logloss", "logistic"),
    ("log", "logistic"),
    ("logit", "logistic"),
    ("logistic-regression", "logistic"),
    ("binomial", "logistic"),
    ("cross-entropy", "logistic"),
    ("svm", "hinge"),
    ("svc", "hinge"),
    ("l1-svm", "hinge"),
    ("linear-svc", "squared-hinge"),
    ("l2-svm", "squared-hinge"),
    ("sqsvm", "squared-hinge"),
    ("hhsvm", "smoothed-hinge"),
    ("huberized-hinge", "smoothed-hinge"),
    ("squared-error", "squared"),
    ("least-squares", "squared"),
    ("ls", "squared"),
    ("mse", "squared"),
    ("ridge", "squared"),
    ("adaboost", "exponential"),
    ("distance-weighted", "dwd"),
    ("leaky-hockey-stick", "lhs"),
];
