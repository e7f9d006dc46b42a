//! The registry that reads specifications of kernels.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use margins_losses::Specification;

use crate::grammar::{self, Part};
use crate::kernel::from_data::{Constructor, FromData, Rule};
use crate::kernel::{
    Anova, Bessel, Gaussian, Laplacian, Linear, Matern32, Matern52, Polynomial, Product, Sigmoid,
    Spline, Sum, Watched,
};
use crate::{Error, Kernel};

type Watch = Arc<dyn Fn() -> ControlFlow<()> + Send + Sync>;

/// A parameter as it is given, or its default.
#[derive(Debug, Clone, Copy)]
enum Parameter {
    /// The parameter is missing and has no default.
    Missing,
    /// A number.
    Number(f64),
    /// A value from training data.
    FromData(Rule),
}

#[derive(Clone)]
struct Entry {
    /// The names and defaults, in the order in which the constructor takes the values.
    parameters: Vec<(String, Parameter)>,
    constructor: Arc<Constructor>,
}

/// A map from names to kernels: it reads specifications such as `gaussian:sigma=0.5`, sums of them
/// with `+` and products with `*`, which binds tighter; parentheses bind tightest.
///
/// [`Kernel::specification`] and [`parse`](Self::parse) are inverse to each other: a sum or a
/// product is written with the parentheses that make it the same tree again.
///
/// ```
/// use margins_data::Design;
/// use margins_kernel_functions::{Kernel, KernelRegistry};
///
/// let registry = KernelRegistry::standard();
/// let kernel = registry.parse("gaussian:sigma=0.5+linear*linear")?;
/// assert_eq!(kernel.specification(), "gaussian:sigma=0.5+linear*linear");
/// let product = registry.parse("linear * (linear + gaussian:sigma=0.5)")?;
/// assert_eq!(product.specification(), "linear*(linear+gaussian:sigma=0.5)");
///
/// // Without a sigma the width comes from the first data that the kernel adapts to.
/// let design = Design::from_rows(&[[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])?;
/// let mut kernel = registry.parse("gaussian")?;
/// kernel.adapt_to(&design, None, 1)?;
/// assert!(kernel.specification().starts_with("gaussian:sigma="));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct KernelRegistry {
    entries: BTreeMap<String, Entry>,
    watch: Option<Watch>,
}

impl KernelRegistry {
    /// Returns a registry of every kernel of this crate. `rbf` is another name of `gaussian`.
    pub fn standard() -> Self {
        let sigma = [("sigma", None)];
        let length = [("length", None)];
        Self::empty()
            .with("linear", &[], |_| Ok(Box::new(Linear)))
            .with_defaults(
                "gaussian",
                vec![("sigma".to_owned(), Parameter::FromData(Rule::Middle))],
                |p| Ok(Box::new(Gaussian::new(p[0])?)),
            )
            .with("laplacian", &sigma, |p| Ok(Box::new(Laplacian::new(p[0])?)))
            .with("matern32", &length, |p| Ok(Box::new(Matern32::new(p[0])?)))
            .with("matern52", &length, |p| Ok(Box::new(Matern52::new(p[0])?)))
            .with(
                "poly",
                &[("degree", Some(3.0)), ("scale", Some(1.0)), ("offset", Some(1.0))],
                |p| Ok(Box::new(Polynomial::new(p[0], p[1], p[2])?)),
            )
            .with("sigmoid", &[("scale", Some(1.0)), ("offset", Some(0.0))], |p| {
                Ok(Box::new(Sigmoid::new(p[0], p[1])?))
            })
            .with("anova", &[("sigma", None), ("degree", Some(1.0))], |p| {
                Ok(Box::new(Anova::new(p[0], p[1])?))
            })
            .with("bessel", &[("sigma", None), ("order", Some(1.0)), ("degree", Some(1.0))], |p| {
                Ok(Box::new(Bessel::new(p[0], p[1], p[2])?))
            })
            .with("spline", &[], |_| Ok(Box::new(Spline)))
    }

    /// Returns a registry without any kernel.
    pub fn empty() -> Self {
        KernelRegistry { entries: BTreeMap::new(), watch: None }
    }

    /// Adds a kernel, or replaces the one of this name. The constructor gets the values of the
    /// parameters in the order in which they are declared here; `None` is no default.
    #[must_use]
    pub fn with(
        self,
        name: &str,
        parameters: &[(&str, Option<f64>)],
        constructor: impl Fn(&[f64]) -> Result<Box<dyn Kernel>, Error> + Send + Sync + 'static,
    ) -> Self {
        let default = |default: Option<f64>| default.map_or(Parameter::Missing, Parameter::Number);
        let parameters =
            parameters.iter().map(|&(name, value)| (name.to_owned(), default(value))).collect();
        self.with_defaults(name, parameters, constructor)
    }

    fn with_defaults(
        mut self,
        name: &str,
        parameters: Vec<(String, Parameter)>,
        constructor: impl Fn(&[f64]) -> Result<Box<dyn Kernel>, Error> + Send + Sync + 'static,
    ) -> Self {
        let entry = Entry { parameters, constructor: Arc::new(constructor) };
        self.entries.insert(name.to_owned(), entry);
        self
    }

    /// Returns the registry whose kernels are [`Watched`] by the function.
    #[must_use]
    pub fn watched(self, watch: impl Fn() -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        KernelRegistry { watch: Some(Arc::new(watch)), ..self }
    }

    /// Returns the registered names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Returns the kernel of a specification.
    ///
    /// Some parameters come from training data: call [`Kernel::adapt_to`] with the data before using
    /// such a kernel. A missing sigma of a Gaussian kernel is the
    /// [`middle`](crate::SigmaRange::middle) of the [`SigmaRange`](crate::SigmaRange). Any parameter
    /// may be `scale`, which is `1/(d v)` for d features and the variance v of all entries of the
    /// design, or `auto`, which is `1/d`: the values of gamma in scikit-learn.
    ///
    /// # Errors
    /// A text of another form, an unknown name or parameter, a parameter given twice, out of range,
    /// or missing without a default.
    pub fn parse(&self, specification: &str) -> Result<Box<dyn Kernel>, Error> {
        self.parse_with(specification, |_, _| Ok(None))
    }

    /// Returns the kernel of a specification as [`parse`](Self::parse) does, asking `supply(kernel,
    /// parameter)` for what is missing.
    ///
    /// # Errors
    /// The errors of [`parse`](Self::parse), and what `supply` says.
    pub fn parse_with(
        &self,
        specification: &str,
        supply: impl Fn(&str, &str) -> Result<Option<f64>, Error>,
    ) -> Result<Box<dyn Kernel>, Error> {
        let wrong =
            |reason: String| Error::Syntax { specification: shortened(specification), reason };
        grammar::check(specification).map_err(wrong)?;
        let atom = |text: &str| self.parse_one(text, specification, &supply);
        let kernel = parse_part(specification, &|text| grammar::part(text).map_err(wrong), &atom)?;
        Ok(match self.watch.clone() {
            Some(watch) => Box::new(Watched::new(kernel, move || watch())),
            None => kernel,
        })
    }

    /// Returns the complete specification with this sigma in every place where a sigma is left out;
    /// `None` if there is no such place.
    ///
    /// # Errors
    /// The errors of [`parse`](Self::parse).
    ///
    /// ```
    /// use margins_kernel_functions::KernelRegistry;
    ///
    /// let registry = KernelRegistry::standard();
    /// let filled = registry.with_sigma("gaussian+linear", 0.5)?;
    /// assert_eq!(filled.as_deref(), Some("gaussian:sigma=0.5+linear"));
    /// assert_eq!(registry.with_sigma("gaussian:sigma=2", 0.5)?, None);
    /// # Ok::<(), margins_kernel_functions::Error>(())
    /// ```
    pub fn with_sigma(&self, specification: &str, sigma: f64) -> Result<Option<String>, Error> {
        let is_used = Cell::new(false);
        let kernel = self.parse_with(specification, |_, parameter| {
            let is_left_out = parameter == "sigma";
            is_used.set(is_used.get() || is_left_out);
            Ok(is_left_out.then_some(sigma))
        })?;
        Ok(is_used.get().then(|| kernel.specification()))
    }

    fn parse_one(
        &self,
        text: &str,
        specification: &str,
        supply: &impl Fn(&str, &str) -> Result<Option<f64>, Error>,
    ) -> Result<Box<dyn Kernel>, Error> {
        let wrong =
            |reason: String| Error::Syntax { specification: specification.to_owned(), reason };
        let mut given = Specification::parse(text).map_err(wrong)?;
        let name = if given.name() == "rbf" { "gaussian" } else { given.name() };
        let known = || self.names().collect::<Vec<_>>().join(", ");
        if name.is_empty() {
            return Err(wrong(format!("the name of a kernel is missing; known are {}", known())));
        }
        let entry = (self.entries.get(name))
            .ok_or_else(|| Error::UnknownKernel { name: name.to_owned(), known: known() })?;
        let is_known = |key: &str| entry.parameters.iter().any(|(known, _)| known == key);
        if let Some(&(parameter, _)) = given.parameters().iter().find(|(key, _)| !is_known(key)) {
            let (kernel, parameter) = (name.to_owned(), parameter.to_owned());
            return Err(Error::UnknownParameter { kernel, parameter, known: entry.takes() });
        }
        let mut values = Vec::with_capacity(entry.parameters.len());
        let mut rules = Vec::new();
        for (k, (parameter, default)) in entry.parameters.iter().enumerate() {
            let found = match (given.take_text(parameter), *default) {
                (Some(text), _) => match Rule::named(text) {
                    Some(rule) => Parameter::FromData(rule),
                    None => {
                        let kind = "a number, 'scale' or 'auto'";
                        let number = Specification::read(parameter, text, kind);
                        Parameter::Number(number.map_err(wrong)?)
                    }
                },
                (None, Parameter::Number(number)) => Parameter::Number(number),
                (None, default) => supply(name, parameter)?.map_or(default, Parameter::Number),
            };
            values.push(match found {
                Parameter::Number(number) => number,
                Parameter::FromData(rule) => {
                    rules.push((k, rule));
                    1.0
                }
                Parameter::Missing => {
                    let (kernel, parameter) = (name.to_owned(), parameter.clone());
                    return Err(Error::MissingParameter { kernel, parameter });
                }
            });
        }
        if rules.is_empty() {
            return (entry.constructor)(&values);
        }
        let kernel = FromData::new(text.trim(), entry.constructor.clone(), values, rules)?;
        Ok(Box::new(kernel))
    }
}

/// Makes the kernel of a text, in which `atom` makes the kernels that are no sum or product.
fn parse_part<'t>(
    text: &'t str,
    part: &impl Fn(&'t str) -> Result<Part<'t>, Error>,
    atom: &impl Fn(&'t str) -> Result<Box<dyn Kernel>, Error>,
) -> Result<Box<dyn Kernel>, Error> {
    let (operands, join): (_, fn(_, _) -> Box<dyn Kernel>) = match part(text)? {
        Part::Atom(text) => return atom(text),
        Part::Inner(text) => return parse_part(text, part, atom),
        Part::Sum(operands) => (operands, |a, b| Box::new(Sum(a, b))),
        Part::Product(operands) => (operands, |a, b| Box::new(Product(a, b))),
    };
    let mut whole = parse_part(operands[0], part, atom)?;
    for operand in &operands[1..] {
        whole = join(whole, parse_part(operand, part, atom)?);
    }
    Ok(whole)
}

/// Returns the text or, if it is long, its beginning.
fn shortened(text: &str) -> String {
    const MOST: usize = 400;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    format!("{}...", text.chars().take(40).collect::<String>())
}

impl Entry {
    fn takes(&self) -> String {
        if self.parameters.is_empty() {
            return "none".to_owned();
        }
        let list = self.parameters.iter().map(|(name, default)| match default {
            Parameter::Number(value) => format!("{name} ({value} by default)"),
            Parameter::Missing | Parameter::FromData(_) => name.clone(),
        });
        list.collect::<Vec<_>>().join(", ")
    }
}

impl Default for KernelRegistry {
    /// Returns the [`standard`](KernelRegistry::standard) registry.
    fn default() -> Self {
        Self::standard()
    }
}

impl fmt::Debug for KernelRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.entries.iter().map(|(name, entry)| (name, &entry.parameters));
        f.debug_map().entries(parameters).finish()
    }
}
