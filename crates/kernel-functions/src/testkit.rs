//! A conformance test-kit for implementations of [`Kernel`].
//!
//! Every method of the trait makes a claim about the function that [`Kernel::value`] computes. The
//! kit compares the claims with each other and with the function, on rows that are dense, sparse
//! and sparse with stored zeros:
//!
//! ```
//! use margins_data::Sample;
//! use margins_kernel_functions::{Kernel, testkit};
//!
//! /// The share of features that two samples have alike.
//! #[derive(Debug)]
//! struct Alike;
//!
//! impl Kernel for Alike {
//!     fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
//!         let mut alike = 0.0;
//!         x.for_each_pair(z, |x, z| alike += f64::from(u8::from(x == z)));
//!         alike / x.features() as f64
//!     }
//!     fn name(&self) -> &str {
//!         "alike"
//!     }
//! }
//!
//! // It forgot the features that neither sample stores: two zeros are alike.
//! let violations = testkit::violations(&Alike);
//! assert!(violations.iter().any(|violation| violation.starts_with("value: depends on the storage")));
//! ```

use margins_data::{Design, Sample};
use nalgebra::DMatrix;

use crate::expansion::{combine_all, diagonal};
use crate::{Kernel, KernelRegistry};

/// Panics with a readable list if the implementation contradicts itself or the trait.
///
/// # Panics
/// If there is a violation: it is an assertion for tests.
pub fn check(kernel: &dyn Kernel) {
    report(kernel, &violations(kernel));
}

/// Panics with a readable list if the kernel does not come back from the registry by its
/// specification, or contradicts itself or the trait.
///
/// # Panics
/// If there is a violation: it is an assertion for tests.
pub fn check_registered(kernel: &dyn Kernel, registry: &KernelRegistry) {
    let mut found = violations(kernel);
    found.extend(text_violations(kernel, registry));
    report(kernel, &found);
}

fn report(kernel: &dyn Kernel, violations: &[String]) {
    assert!(
        violations.is_empty(),
        "{} breaks the contract of Kernel:\n  {}",
        kernel.specification(),
        violations.join("\n  ")
    );
}

/// Returns what in the implementation contradicts itself or the trait, on rows of four features
/// with many zeros: a line each that begins with the method at fault, at most three lines for one
/// kind of fault.
pub fn violations(kernel: &dyn Kernel) -> Vec<String> {
    violations_on(kernel, &rows())
}

/// Returns what [`violations`] does, on rows of your own: for kernels that not every sample is good
/// for. A pair of equal rows, zeros and at least eight rows make the examination worth something.
///
/// # Panics
/// If there are no rows, or rows of different lengths, or a number is not finite.
pub fn violations_on(kernel: &dyn Kernel, rows: &[Vec<f64>]) -> Vec<String> {
    let storages = Storages::of(rows);
    let value =
        |i: usize, j: usize| kernel.value(&storages.dense.sample(i), &storages.dense.sample(j));
    let values = DMatrix::from_fn(rows.len(), rows.len(), value);
    let mut examination = Examination { kernel, storages, values, found: Vec::new() };
    examination.names();
    examination.finiteness();
    // What is not finite is not equal to anything, and would be reported once more by all that
    // follows.
    if examination.found.is_empty() {
        examination.symmetry();
        examination.storage();
        examination.blocks();
        examination.diagonal();
        examination.semidefiniteness();
    }
    examination.found
}

/// Returns how the kernel that the registry parses from [`Kernel::specification`] differs from the
/// kernel itself: its text must be the same, and its values to the last bit.
pub fn text_violations(kernel: &dyn Kernel, registry: &KernelRegistry) -> Vec<String> {
    let text = kernel.specification();
    let back = match registry.parse(&text) {
        Ok(back) => back,
        Err(error) => return vec![format!("specification: cannot be read: {error}")],
    };
    let mut found = Vec::new();
    if back.specification() != text {
        found.push(format!("specification: {text} comes back as {}", back.specification()));
    }
    let rows = rows();
    for (i, x) in rows.iter().enumerate() {
        for z in &rows[..=i] {
            let (x, z) = (Sample::Dense(x), Sample::Dense(z));
            let (one, other) = (kernel.value(&x, &z), back.value(&x, &z));
            if one.to_bits() != other.to_bits() && found.len() < 3 {
                found.push(format!(
                    "specification: of {text} the value {one:e} comes back as {other:e}"
                ));
            }
        }
    }
    found
}

/// A reference is a kernel value that is known from another source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference<'a> {
    /// The one sample.
    pub x: &'a [f64],
    /// The other sample.
    pub z: &'a [f64],
    /// The kernel of the two.
    pub value: f64,
}

/// Returns the largest distance to the reference values, as a share of each of them (and as it is
/// to a value of 0), and the reference that it is the distance to. A value that is not finite is
/// infinitely far.
pub fn farthest<'a>(
    kernel: &dyn Kernel,
    references: &[Reference<'a>],
) -> Option<(f64, Reference<'a>)> {
    let distance = |reference: &Reference<'a>| {
        let value = kernel.value(&Sample::Dense(reference.x), &Sample::Dense(reference.z));
        let difference = (value - reference.value).abs();
        let size = if reference.value == 0.0 { 1.0 } else { reference.value.abs() };
        if difference.is_nan() { f64::INFINITY } else { difference / size }
    };
    references
        .iter()
        .map(|reference| (distance(reference), *reference))
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
}

/// Returns rows of four features with many zeros; one row is zero and some are equal to others.
fn rows() -> Vec<Vec<f64>> {
    let entry = |t: f64| {
        let value = 1.5 * (1.7 * t + 0.3 * t.sqrt()).sin();
        if value.abs() < 0.7 { 0.0 } else { value }
    };
    let mut rows: Vec<Vec<f64>> =
        (0..20).map(|i| (0..4).map(|j| entry(f64::from(4 * i + j))).collect()).collect();
    rows[7] = vec![0.0; 4];
    rows[11] = rows[3].clone();
    rows[13] = rows[2].iter().map(|x| -x).collect();
    rows[19] = rows[3].clone();
    rows
}

/// The samples in every form that they are stored in.
struct Storages {
    dense: Design,
    sparse: Design,
    /// The samples, sparse and with every other zero stored.
    zeros: Design,
}

impl Storages {
    fn of(rows: &[Vec<f64>]) -> Self {
        let p = rows.first().map_or(0, Vec::len);
        assert!(rows.iter().all(|row| row.len() == p), "rows of one length");
        let sparse = |keeps: fn(usize) -> bool| {
            let row = |(i, row): (usize, &Vec<f64>)| {
                let stored = |(j, x): &(usize, f64)| *x != 0.0 || keeps(i + j);
                row.iter().copied().enumerate().filter(stored).collect()
            };
            let rows: Vec<Vec<(usize, f64)>> = rows.iter().enumerate().map(row).collect();
            Design::from_sparse_rows(&rows, p).expect("finite rows")
        };
        Storages {
            dense: Design::from_rows(rows).expect("finite rows"),
            sparse: sparse(|_| false),
            zeros: sparse(|at| at.is_multiple_of(2)),
        }
    }

    fn all(&self) -> [(&'static str, &Design); 3] {
        let Storages { dense, sparse, zeros } = self;
        [("dense", dense), ("sparse", sparse), ("sparse with stored zeros", zeros)]
    }
}

struct Examination<'a> {
    kernel: &'a dyn Kernel,
    storages: Storages,
    /// The values of all pairs of dense samples.
    values: DMatrix<f64>,
    found: Vec<String>,
}

impl Examination<'_> {
    /// Notes a violation unless it is the fourth of its kind, a kind being method and fault.
    fn require(&mut self, holds: bool, fault: &str, detail: impl FnOnce() -> String) {
        let same = self.found.iter().filter(|line| line.starts_with(fault)).count();
        if !holds && same < 3 {
            self.found.push(format!("{fault}: {}", detail()));
        }
    }

    fn len(&self) -> usize {
        self.values.nrows()
    }

    /// Returns true if two values for samples i and j differ by no more than rounding makes of sums
    /// that cancel.
    fn agree(&self, i: usize, j: usize, one: f64, other: f64) -> bool {
        let sizes = [self.values[(i, i)], self.values[(j, j)], one, other];
        let size = sizes.into_iter().fold(0.0, |most: f64, k| most.max(k.abs()));
        (one - other).abs() <= 1e-12 * size
    }

    fn names(&mut self) {
        let is_word = |name: &str| {
            // The default is a path of Rust, in which the two colons are not a parameter list.
            let name = name.replace("::", "");
            !name.is_empty() && !name.contains([':', ',', '=', '+', '*', '(', ')'])
        };
        let (name, parameters) = (self.kernel.name().to_owned(), self.kernel.parameters());
        self.require(is_word(&name), "name: not a word", || format!("'{name}'"));
        for (at, (name, value)) in parameters.iter().enumerate() {
            self.require(is_word(name), "parameters: not a word", || format!("'{name}'"));
            self.require(value.is_finite(), "parameters: not finite", || {
                format!("{name} = {value}")
            });
            let twice = parameters[..at].iter().any(|(earlier, _)| earlier == name);
            self.require(!twice, "parameters: given twice", || format!("'{name}'"));
        }
    }

    fn finiteness(&mut self) {
        for j in 0..self.len() {
            for i in 0..self.len() {
                let value = self.values[(i, j)];
                self.require(value.is_finite(), "value: not finite", || {
                    format!("k(row {i}, row {j}) = {value}")
                });
            }
        }
    }

    fn symmetry(&mut self) {
        for j in 0..self.len() {
            for i in 0..j {
                let (one, other) = (self.values[(i, j)], self.values[(j, i)]);
                self.require(self.agree(i, j, one, other), "value: not symmetric", || {
                    format!("k(row {i}, row {j}) = {one:e}, exchanged {other:e}")
                });
            }
        }
    }

    /// Checks that a feature that is not stored is 0, as is one that is stored as 0.
    fn storage(&mut self) {
        let kernel = self.kernel;
        for one in 0..3 {
            for other in 0..3 {
                for j in 0..self.len() {
                    for i in 0..self.len() {
                        let [(x_name, x), (z_name, z)] =
                            [one, other].map(|k| self.storages.all()[k]);
                        let (value, want) =
                            (kernel.value(&x.sample(i), &z.sample(j)), self.values[(i, j)]);
                        let holds = self.agree(i, j, value, want);
                        self.require(holds, "value: depends on the storage", || {
                            format!(
                                "k(row {i}, row {j}) = {want:e} of dense samples, but {value:e} of a \
                                 {x_name} one with a {z_name} one"
                            )
                        });
                    }
                }
            }
        }
    }

    /// Checks blocks that are not square: in a square one rows and columns could be exchanged
    /// unseen.
    fn blocks(&mut self) {
        let n = self.len();
        let few: Vec<usize> = (0..n).step_by(3).collect();
        for one in 0..3 {
            for other in 0..3 {
                let [(x_name, x), (z_name, z)] = [one, other].map(|k| self.storages.all()[k]);
                let names = format!("{x_name} rows, {z_name} columns");
                let identity = DMatrix::identity(few.len(), few.len());
                match combine_all(self.kernel, x, &z.select(&few), &identity) {
                    Ok(filled) => self.compare(&names, &filled, &few),
                    Err(error) => {
                        self.require(false, "fill: not finite", || format!("{error} ({names})"));
                    }
                }
            }
        }
    }

    /// Compares the values of a block, one column per sample and one row one of `few`, with those of
    /// its pairs.
    fn compare(&mut self, names: &str, filled: &DMatrix<f64>, few: &[usize]) {
        for i in 0..self.len() {
            for (k, &j) in few.iter().enumerate() {
                let (found, want) = (filled[(k, i)], self.values[(i, j)]);
                self.require(self.agree(i, j, found, want), "fill: not that of value", || {
                    format!("k(row {i}, row {j}) = {want:e}, in a block {found:e} ({names})")
                });
            }
        }
    }

    fn diagonal(&mut self) {
        for k in 0..3 {
            let (name, design) = self.storages.all()[k];
            match diagonal(self.kernel, design) {
                Ok(diagonal) => {
                    for (i, found) in diagonal.into_iter().enumerate() {
                        let want = self.values[(i, i)];
                        self.require(self.agree(i, i, found, want), "fill: wrong for one pair", || {
                            format!("k(row {i}, row {i}) = {want:e}, alone in a block {found:e} ({name})")
                        });
                    }
                }
                Err(error) => {
                    self.require(false, "fill: not finite", || format!("{error} ({name})"));
                }
            }
        }
    }

    /// Checks that no eigenvalue is negative, up to the rounding of the values.
    fn semidefiniteness(&mut self) {
        if !self.kernel.is_positive_semidefinite() {
            return;
        }
        let half = 0.5 * (&self.values + self.values.transpose());
        let least = half.symmetric_eigenvalues().min();
        let size = self.values.diagonal().iter().map(|k| k.abs()).sum::<f64>();
        self.require(least >= -1e-10 * size, "is_positive_semidefinite: not so", || {
            format!("an eigenvalue of {least:e} where the diagonal adds up to {size:e}")
        });
    }
}
