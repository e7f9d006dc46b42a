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
