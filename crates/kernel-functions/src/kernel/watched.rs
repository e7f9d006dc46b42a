//! A kernel that a callback can interrupt.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use margins_data::{Design, Sample};

use crate::kernel::Gaussian;
use crate::{Block, Error, Kernel};

type Watch = dyn Fn() -> ControlFlow<()> + Send + Sync;

/// A kernel with a function that ends what is computed with it: kernel matrices, products with
/// them, features and scores fail with [`Error::Interrupted`](crate::Error::Interrupted) once the
/// function breaks. It is called before every block of kernel values, on the thread that computes
/// them, and should be quick.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use margins_data::Design;
/// use margins_kernel_functions::{Error, Gaussian, Watched, diagonal};
///
/// let is_over = Arc::new(AtomicBool::new(false));
/// let flag = is_over.clone();
/// let kernel = Watched::new(Gaussian::new(0.5)?, move || match flag.load(Ordering::Relaxed) {
///     true => ControlFlow::Break(()),
///     false => ControlFlow::Continue(()),
/// });
/// let design = Design::from_rows(&[[0.0, 1.0], [1.0, 1.0]])?;
/// assert_eq!(diagonal(&kernel, &design)?, [1.0, 1.0]);
/// is_over.store(true, Ordering::Relaxed);
/// assert!(matches!(diagonal(&kernel, &design), Err(Error::Interrupted)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Watched<K> {
    kernel: K,
    watch: Arc<Watch>,
}

impl<K> Watched<K> {
    /// Returns the kernel with the function.
    pub fn new(kernel: K, watch: impl Fn() -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        Watched { kernel, watch: Arc::new(watch) }
    }
}

impl Watched<Arc<dyn Kernel>> {
    /// Returns a kernel whose values are wanted until a deadline; the kernel as it is if there is
    /// none.
    pub fn until(kernel: &Arc<dyn Kernel>, deadline: Option<Instant>) -> Arc<dyn Kernel> {
        let Some(deadline) = deadline else { return Arc::clone(kernel) };
        Arc::new(Watched::new(Arc::clone(kernel), move || match Instant::now() < deadline {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }))
    }
}

impl<K: fmt::Debug> fmt::Debug for Watched<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watched").field(&self.kernel).finish()
    }
}

impl<K: Kernel> Kernel for Watched<K> {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        self.kernel.value(x, z)
    }
    fn name(&self) -> &str {
        self.kernel.name()
    }
    fn parameters(&self) -> Vec<(&'static str, f64)> {
        self.kernel.parameters()
    }
    fn specification(&self) -> String {
        self.kernel.specification()
    }
    fn is_positive_semidefinite(&self) -> bool {
        self.kernel.is_positive_semidefinite()
    }
    fn as_gaussian(&self) -> Option<Gaussian> {
        self.kernel.as_gaussian()
    }
    fn adapt_to(
        &mut self,
        design: &Design,
        weights: Option<&[f64]>,
        seed: u64,
    ) -> Result<(), Error> {
        self.kernel.adapt_to(design, weights, seed)
    }
    fn needs_data(&self) -> bool {
        self.kernel.needs_data()
    }
    fn is_interrupted(&self) -> bool {
        (self.watch)().is_break() || self.kernel.is_interrupted()
    }
    fn refusal(&self, sample: &Sample<'_>) -> Option<String> {
        self.kernel.refusal(sample)
    }
    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        self.kernel.fill(block, out);
    }
}
