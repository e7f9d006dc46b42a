//! Names that other programs give to what is here.

/// The names of kernels in scikit-learn, LIBSVM and packages of R, with ours.
pub(crate) const ELSEWHERE: [(&str, &str); 12] = [
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
    ("dot", "linear"),
    ("vanilladot", "linear"),
];

/// The names of parameters in scikit-learn, LIBSVM and packages of R, with ours.
pub(crate) const PARAMETERS_ELSEWHERE: [(&str, &str); 4] =
    [("gamma", "sigma"), ("gamma", "scale"), ("length-scale", "length"), ("coef0", "offset")];
