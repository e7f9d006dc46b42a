//! Names in other programs for the kernels here, so that messages can suggest ours.

/// The names of kernels in scikit-learn, LIBSVM and packages of R, with ours.
pub(crate) const FOREIGN_NAMES: [(&str, &str); 14] = [
    ("rbf", "gaussian"),
    ("rbfdot", "gaussian"),
    ("radial", "gaussian"),
    ("squared-exponential", "gaussian"),
    ("polynomial", "poly"),
    ("polydot", "poly"),
    ("laplacedot", "laplacian"),
    ("matern", "matern52"),
    ("tanh", "sigmoid"),
    ("tanhdot", "sigmoid"),
    ("besseldot", "bessel"),
    ("splinedot", "spline"),
    ("dot", "linear"),
    ("vanilladot", "linear"),
];

/// The names of parameters in scikit-learn, LIBSVM and packages of R, with ours.
pub(crate) const FOREIGN_PARAMETERS: [(&str, &str); 4] =
    [("gamma", "sigma"), ("gamma", "scale"), ("length-scale", "length"), ("coef0", "offset")];
