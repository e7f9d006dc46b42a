//! Several classes in one problem, with a kernel.
//!
//! `F(b, f) = (1/n) sum_i c_i l(u_i) + lambda sum_c ||f_c||^2` for k functions `f_c` of the space of a
//! kernel. In coordinates Z of the samples, with `Z Z' = K`, it is the linear problem, to which
//! [`Training::joint_path`] brings its certificate.

use margins_data::{ClassLabels, Classes, Dataset, Design};
use margins_losses::MarginLoss;
use margins_optim::path::JointFit;
use margins_optim::problem::JointForm;
use margins_optim::problem::summation::dot;
use margins_optim::{Certificate, Lambda, Options, Solver, Status, Training};
use nalgebra::DMatrix;

use crate::path::memory::bytes_of_eigenspace;
use crate::rkhs_norm::SampleNorms;
use crate::room::is_free;
use crate::{Error, Gram, Kernel, PivotedCholesky, Route, combine_all, diagonal};

/// Returns the fits of several classes in one problem at every lambda, largest first, given the kernel
/// matrix over the rows of the data: the coefficients of a class are those of the kernel sections at all
/// rows. The matrix is taken as given, with any standardisation of its features.
///
/// For a loss with a kink dual ascent works on the matrix itself. For another one coordinates are those of a
/// pivoted Cholesky factor where the rank of K, to ten digits of its trace, is so low that they save time;
/// otherwise Newton's method takes products of K, which need not be held. Few samples, and fits that stall,
/// have coordinates of the eigenspace. The gap is for K itself, as by [`joint_certificates`].
///
/// ```
/// use margins_data::{Classes, Dataset, Design};
/// use margins_kernels::{Gaussian, Gram, joint_path};
/// use margins_losses::Logistic;
/// use margins_optim::problem::JointForm;
/// use margins_optim::{Lambda, Training};
///
/// let design = Design::from_rows(&[[0.0], [0.2], [1.0], [1.3], [3.0], [3.2]])?;
/// let data = Dataset::new(design, Classes::new(&["a", "a", "b", "b", "a", "c"])?)?;
/// let gram = Gram::new(&Gaussian::new(2.0)?, data.design())?;
/// let training = Training::new(&Logistic);
/// let fits = joint_path(&training, JointForm::Multinomial, &data, &gram, &[Lambda::new(0.01)?])?;
/// assert!(fits[0].report.converged() && fits[0].coefs[2].len() == 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of [`Training::joint_path`]; another number of rows than of samples; kernel values that are not
/// finite. [`Error::NotHeld`]: the matrix is not in memory, and the loss has a kink or samples are few.
pub fn joint_path<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    form: JointForm,
    data: &Dataset<Classes>,
    gram: &Gram,
    lambdas: &[Lambda],
) -> Result<Vec<JointFit>, Error> {
    let (expected, found) = (gram.len(), data.rows());
    if expected != found {
        return Err(Error::Shape { what: "rows", expected, found });
    }
    let in_eigenspace = |lambdas: &[Lambda]| {
        let eigenspace = gram.eigenspace()?;
        let coordinates = &eigenspace.coordinates;
        path_in(training, form, data, coordinates, |w| eigenspace.lift(w), lambdas)
    };
    let again = |fits: &mut [JointFit], status: Status| {
        let is_open = |fit: &&mut JointFit| fit.report.status == status;
        let open: Vec<Lambda> = fits.iter_mut().filter(is_open).map(|fit| fit.lambda).collect();
        let has_room = is_free(bytes_of_eigenspace(found)) && !training.options.is_late();
        if !open.is_empty() && has_room {
            let others = in_eigenspace(&open)?;
            fits.iter_mut().filter(is_open).zip(others).for_each(|(fit, other)| *fit = other);
        }
        Ok::<(), Error>(())
    };
    let is_for_ascent = Route::ascends(form, training.loss, training.options.solver);
    if let Some(matrix) = gram.matrix().filter(|_| is_for_ascent) {
        let mut fits = training.joint_path_on_matrix(form, data, matrix, lambdas)?;
        again(&mut fits, Status::Stalled)?;
        return Ok(fits);
    }
    let rank = Route::SampleSpace.largest_rank(Solver::Auto, found);
    let Some(factor) = rank.and_then(|rank| gram.low_rank_factor(rank)) else {
        let shape = (found, data.labels().names().len());
        let multiplies = Route::multiplies(form, training.loss, training.options.solver, shape);
        if !multiplies {
            return in_eigenspace(lambdas);
        }
        let multiply = |x: &DMatrix<f64>| gram.multiply(x);
        let diagonal = gram.diagonal();
        let mut fits =
            training.joint_path_by_products(form, data, &diagonal, &multiply, lambdas)?;
        gram.check()?;
        if gram.matrix().is_some() {
            again(&mut fits, Status::Stalled)?;
        }
        return Ok(fits);
    };
    let kept = &keeping(training);
    let mut fits = path_in(kept, form, data, factor.coordinates(), factor.lift(), lambdas)?;
    let norms = SampleNorms::new(gram.diagonal());
    let products = |pulls: &DMatrix<f64>| Ok(gram.multiply(pulls));
    certify_beyond(&mut fits, factor.coordinates(), &norms, training.options.tolerance, products)?;
    again(&mut fits, Status::Truncated)?;
    if !training.options.keep_duals {
        fits.iter_mut().for_each(|fit| fit.pulls = None);
    }
    Ok(fits)
}

impl PivotedCholesky {
    /// Returns the fits of several classes in one problem in the function space of the pivots, certified
    /// against the whole kernel, to the rows of the data: these are the samples named, or all of them. The
    /// coefficients of a class are those of the kernel sections at all samples.
    ///
    /// # Errors
    /// The errors of [`Training::joint_path`]; kernel values that are not finite.
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn joint_path<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        form: JointForm,
        data: &Dataset<Classes>,
        rows: Option<&[usize]>,
        (kernel, design): (&dyn Kernel, &Design),
        lambdas: &[Lambda],
    ) -> Result<Vec<JointFit>, Error> {
        let part = |of: &Design| rows.map_or_else(|| of.clone(), |rows| of.select(rows));
        let (coordinates, design) = (part(self.coordinates()), part(design));
        let kept = &keeping(training);
        let mut fits = path_in(kept, form, data, &coordinates, self.lift(), lambdas)?;
        let norms = SampleNorms::new(diagonal(kernel, &design)?);
        let products = |pulls: &DMatrix<f64>| {
            Ok(combine_all(kernel, &design, &design, &pulls.transpose())?.transpose())
        };
        certify_beyond(&mut fits, &coordinates, &norms, training.options.tolerance, products)?;
        if !training.options.keep_duals {
            fits.iter_mut().for_each(|fit| fit.pulls = None);
        }
        Ok(fits)
    }
}

/// Returns the settings of fits that keep their duals.
fn keeping<'a, L: MarginLoss + ?Sized>(training: &Training<'a, L>) -> Training<'a, L> {
    Training { options: Options { keep_duals: true, ..training.options }, ..*training }
}

/// Returns the fits over coordinates of the samples, and `lift` from these to coefficients of kernel
/// sections.
fn path_in<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    form: JointForm,
    data: &Dataset<Classes>,
    coordinates: &Design,
    lift: impl Fn(&[f64]) -> Vec<f64>,
    lambdas: &[Lambda],
) -> Result<Vec<JointFit>, Error> {
    if lambdas.contains(&Lambda::NONE) {
        return Err(margins_optim::Error::Lambda(0.0).into());
    }
    let training = Training { standardize: false, penalty: None, ..*training };
    let mut fits = training.joint_path(form, &data.over(coordinates.clone())?, lambdas)?;
    for coef in fits.iter_mut().flat_map(|fit| &mut fit.coefs) {
        *coef = lift(coef);
    }
    Ok(fits)
}

/// A fit of several classes in one problem on features, with the pulls of the duals that certify it.
#[derive(Debug, Clone)]
pub struct JointPulls<'f> {
    /// The regularisation.
    pub lambda: Lambda,
    /// The certificate of the problem on the features.
    pub certificate: Certificate,
    /// The [pulls](JointFit::pulls), a list a class.
    pub pulls: Vec<&'f [f64]>,
}

/// Bounds how far fits of several classes in one problem are from the minimum over the whole space of a
/// kernel, where features Z of the samples are coordinates of a part of it, such as Nystrom features and
/// factors of low rank: `K - Z Z'` is positive semidefinite, and `<w, z>` is a function of the space with
/// the norm of w.
///
/// The objective is then that on the features, and the bound by the same duals with pulls r is lower by
/// `sum_c r_c'(K - Z Z')r_c/(4 lambda)`. One product with K serves all fits, and K need
/// [not be held](Gram::matrix_free).
///
/// # Errors
/// A number of features or pulls other than of samples; a kernel value that is not finite.
pub fn joint_certificates(
    gram: &Gram,
    features: &Design,
    fits: &[JointPulls<'_>],
) -> Result<Vec<Certificate>, Error> {
    let expected = gram.len();
    let lengths = fits.iter().flat_map(|fit| &fit.pulls).map(|pulls| pulls.len());
    if let Some(found) = lengths.chain([features.rows()]).find(|found| *found != expected) {
        return Err(Error::Shape { what: "pulls and features, one per sample", expected, found });
    }
    let norms = SampleNorms::new(gram.diagonal());
    let certificates = beyond(fits, features, &norms, |pulls| Ok(gram.multiply(pulls)))?;
    gram.check()?;
    Ok(certificates)
}

/// Raises the gaps of fits in coordinates to those for the whole kernel, given its products.
fn certify_beyond(
    fits: &mut [JointFit],
    coordinates: &Design,
    norms: &SampleNorms,
    tolerance: f64,
    products: impl FnOnce(&DMatrix<f64>) -> Result<DMatrix<f64>, Error>,
) -> Result<(), Error> {
    let of = |fit: &JointFit| (fit.lambda, fit.report.certificate(), fit.pulls.clone());
    let (places, known): (Vec<usize>, Vec<_>) = (fits.iter().enumerate())
        .filter(|(_, fit)| fit.pulls.is_some())
        .map(|(place, fit)| (place, of(fit)))
        .unzip();
    let known: Vec<JointPulls<'_>> = (known.iter())
        .map(|(lambda, certificate, pulls)| JointPulls {
            lambda: *lambda,
            certificate: *certificate,
            pulls: pulls.iter().flatten().map(Vec::as_slice).collect(),
        })
        .collect();
    for (place, certificate) in
        places.into_iter().zip(beyond(&known, coordinates, norms, products)?)
    {
        fits[place].report.certify_by(&certificate, tolerance, Status::Truncated);
    }
    Ok(())
}

/// Returns the certificates for the whole kernel, given its products.
fn beyond(
    fits: &[JointPulls<'_>],
    features: &Design,
    norms: &SampleNorms,
    products: impl FnOnce(&DMatrix<f64>) -> Result<DMatrix<f64>, Error>,
) -> Result<Vec<Certificate>, Error> {
    let columns: Vec<&[f64]> = fits.iter().flat_map(|fit| fit.pulls.iter().copied()).collect();
    let stacked = DMatrix::from_fn(features.rows(), columns.len(), |i, k| columns[k][i]);
    let images = products(&stacked)?;
    let mut images = images.column_iter();
    let mut sums = vec![0.0; features.columns()];
    let certificate = |fit: &JointPulls<'_>| {
        let mut rest = 0.0;
        for (pulls, image) in fit.pulls.iter().zip(images.by_ref()) {
            features.multiply_transposed(pulls, &mut sums);
            // Both squares are right to the rounding of their products.
            let rounding = norms.largest_square(pulls).map_or(f64::INFINITY, |s| f64::EPSILON * s);
            rest += (dot(pulls, image.as_slice()) - dot(&sums, &sums)).max(0.0) + rounding;
        }
        let duality_gap = fit.certificate.duality_gap + 0.25 * rest / fit.lambda.get();
        Certificate { duality_gap, ..fit.certificate }
    };
    Ok(fits.iter().map(certificate).collect())
}
