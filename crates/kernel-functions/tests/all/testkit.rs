//! The test-kit finds the fault of deliberately wrong kernels, names the method, and passes the
//! kernels of this crate.

use margins_data::Sample;
use margins_kernel_functions::testkit::{self, Reference};
use margins_kernel_functions::{Block, Kernel, KernelRegistry, Product, Sigmoid, Sum};
use proptest::prelude::*;

/// The kernels of the registry that take every sample, with several parameters, sums, products and
/// nested ones.
const KERNELS: [&str; 29] = [
    "linear",
    "gaussian:sigma=0.5",
    "gaussian:sigma=1e-9",
    "gaussian:sigma=30",
    "laplacian:sigma=0.7",
    "laplacian:sigma=1e3",
    "matern32:length=1.5",
    "matern32:length=0.01",
    "matern52:length=0.8",
    "matern52:length=1e-3",
    "matern52:length=1e5",
    "poly",
    "poly:degree=2,scale=0.5,offset=0",
    "poly:degree=9,scale=3,offset=0.1",
    "anova:sigma=0.3",
    "anova:sigma=1.2,degree=3",
    "anova:sigma=1e-3,degree=7",
    "bessel:sigma=0.7,order=1",
    "bessel:sigma=30,order=2.5,degree=3",
    "sigmoid",
    "sigmoid:scale=0.3,offset=-0.2",
    "gaussian:sigma=0.5+linear",
    "gaussian:sigma=2*poly:degree=2,scale=1,offset=1",
    "anova:sigma=0.5,degree=2*linear+laplacian:sigma=1",
    "linear*(anova:sigma=0.5,degree=2+laplacian:sigma=1)",
    "(linear+gaussian:sigma=1)*(linear+matern32:length=1)",
    "linear+(linear+linear*(linear*poly))",
    "((linear))*((anova:sigma=1+linear)+linear)",
    "sigmoid*(gaussian:sigma=1+sigmoid)",
];

/// Kernels of features that are not negative.
const OF_POSITIVE: [&str; 3] = ["spline", "spline*gaussian:sigma=0.5", "linear+spline*spline"];

#[test]
fn every_kernel_of_the_registry_conforms() {
    let registry = KernelRegistry::standard();
    for name in registry.names() {
        let tried = KERNELS.iter().chain(&OF_POSITIVE).filter(|text| text.contains(name)).count();
        assert!(tried >= 2, "{name} is to be examined with several parameters");
    }
    for specification in KERNELS {
        let kernel = registry.parse(specification).expect("a kernel of the registry");
        testkit::check_registered(&*kernel, &registry);
    }
    let mut rows: Vec<Vec<f64>> = (0..60u32)
        .map(|i| f64::from(i * i % 7) / 3.0)
        .collect::<Vec<_>>()
        .chunks(4)
        .map(Vec::from)
        .collect();
    rows[2] = vec![0.0; 4];
    rows[9] = rows[4].clone();
    for specification in OF_POSITIVE {
        let kernel = registry.parse(specification).expect("a kernel of the registry");
        let mut found = testkit::violations_on(&*kernel, &rows);
        found.extend(testkit::text_violations(&*kernel, &registry));
        assert!(found.is_empty(), "{specification}: {found:?}");
    }
}

/// The kernel of Brownian motion of the sum of the features; the examination is of a kernel of
/// one's own.
#[derive(Debug)]
struct Brownian;

impl Kernel for Brownian {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        let ones = vec![1.0; x.features()];
        x.dot(&ones).min(z.dot(&ones))
    }
    fn name(&self) -> &str {
        "brownian"
    }
    fn is_positive_semidefinite(&self) -> bool {
        true
    }
}

#[test]
fn a_kernel_of_ones_own_is_examined_on_its_own_rows() {
    let rows: Vec<Vec<f64>> =
        (0..12).map(|i| vec![f64::from(i % 3), f64::from(i / 2), 0.0]).collect();
    assert_eq!(testkit::violations_on(&Brownian, &rows), [""; 0]);
    // Sums of features that are negative are no times.
    let violations = testkit::violations(&Brownian);
    assert!(violations[0].starts_with("is_positive_semidefinite: not so"), "{violations:?}");
    let registry = KernelRegistry::empty().with("brownian", &[], |_| Ok(Box::new(Brownian)));
    assert_eq!(testkit::text_violations(&Brownian, &registry), [""; 0]);
    let unknown = testkit::text_violations(&Brownian, &KernelRegistry::standard());
    assert!(unknown[0].starts_with("specification: cannot be read: unknown kernel"), "{unknown:?}");
}

/// A right kernel with one method replaced.
#[derive(Debug, Clone, Copy)]
struct Tampered(Fault);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    Name(&'static str),
    Parameter(&'static str, f64),
    NotFinite,
    Asymmetric,
    StoredFeaturesAlone,
    StoredZeros,
    Scaled,
    Transposed,
    SinglePair,
    FillNaN,
    Indefinite,
    LostParameter,
    Slope,
}

impl Kernel for Tampered {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        let mut dot = 0.0;
        let mut seen = 0.0;
        x.for_each_pair(z, |x, z| {
            dot += x * z;
            seen += 1.0;
        });
        let mut stored = 0.0;
        x.for_each(|_, value| stored += f64::from(u8::from(value == 0.0)));
        match self.0 {
            Fault::NotFinite => (dot - 1.0).ln(),
            Fault::Asymmetric => 1.0 + dot + 1e-9 * x.squared_norm(),
            Fault::StoredFeaturesAlone => dot + seen,
            Fault::StoredZeros => {
                dot + if matches!(x, Sample::Sparse { .. }) { stored } else { 0.0 }
            }
            Fault::Indefinite => (dot - 1.0).tanh(),
            Fault::Slope => (1.0 + 1e-15) * (1.0 + dot),
            _ => 1.0 + dot,
        }
    }
    fn name(&self) -> &str {
        if let Fault::Name(name) = self.0 { name } else { "tampered" }
    }
    fn parameters(&self) -> Vec<(&'static str, f64)> {
        match self.0 {
            Fault::Parameter(name, value) => vec![("scale", 1.0), (name, value)],
            _ => Vec::new(),
        }
    }
    fn is_positive_semidefinite(&self) -> bool {
        true
    }
    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        match self.0 {
            Fault::Transposed => {
                block.pairs(|x, z| self.value(x, z), out);
                let (rows, columns) = (20, out.len() / 20);
                if rows * columns == out.len() && columns > 1 {
                    let values = out.to_vec();
                    for (at, out) in out.iter_mut().enumerate() {
                        *out = values[at % columns * rows + at / columns];
                    }
                }
            }
            Fault::Scaled => block.pairs(|x, z| (1.0 + 1e-9) * self.value(x, z), out),
            Fault::SinglePair if out.len() == 1 => out[0] = 7.0,
            Fault::FillNaN => out.fill(f64::NAN),
            _ => block.pairs(|x, z| self.value(x, z), out),
        }
    }
}

#[test]
fn each_fault_is_found_and_named() {
    assert_eq!(testkit::violations(&Tampered(Fault::None)), [""; 0]);
    let cases = [
        (Fault::Name(""), "name: not a word"),
        (Fault::Name("a+b"), "name: not a word"),
        (Fault::Name("a(b)"), "name: not a word"),
        (Fault::Parameter("si=gma", 1.0), "parameters: not a word"),
        (Fault::Parameter("sigma", f64::NAN), "parameters: not finite"),
        (Fault::Parameter("scale", 2.0), "parameters: given twice"),
        (Fault::NotFinite, "value: not finite"),
        (Fault::Asymmetric, "value: not symmetric"),
        (Fault::StoredFeaturesAlone, "value: depends on the storage"),
        (Fault::StoredZeros, "value: depends on the storage"),
        (Fault::Scaled, "fill: not that of value"),
        (Fault::Transposed, "fill: not that of value"),
        (Fault::SinglePair, "fill: wrong for one pair"),
        (Fault::FillNaN, "fill: not finite"),
        (Fault::Indefinite, "is_positive_semidefinite: not so"),
    ];
    for (fault, want) in cases {
        let violations = testkit::violations(&Tampered(fault));
        assert!(violations.iter().any(|line| line.starts_with(want)), "{fault:?}: {violations:?}");
        let of_kind = violations.iter().filter(|line| line.starts_with(want)).count();
        assert!(of_kind <= 3, "{fault:?}: {violations:?}");
        let panics = std::panic::catch_unwind(|| testkit::check(&Tampered(fault)));
        assert!(panics.is_err(), "{fault:?}");
    }
}

#[test]
fn a_text_that_comes_back_as_another_kernel_is_found() {
    let registry = |fault| {
        KernelRegistry::empty().with("tampered", &[], move |_| Ok(Box::new(Tampered(fault))))
    };
    let found = |given, read| testkit::text_violations(&Tampered(given), &registry(read));
    assert_eq!(found(Fault::None, Fault::None), [""; 0]);
    assert_eq!(found(Fault::Slope, Fault::LostParameter).len(), 3);
    assert!(found(Fault::None, Fault::Name("other"))[0].contains("comes back as other"));
}

#[test]
fn references_say_how_far_a_kernel_is_from_them() {
    let kernel = |text: &str| KernelRegistry::standard().parse(text).unwrap();
    let (x, z): (&[f64], &[f64]) = (&[1.0, 2.0], &[0.0, 4.0]);
    // By hand: <x, z> = 8, ||x - z||^2 = 5; exponentials in thirty decimal digits, rounded.
    let references = [
        ("linear", 8.0),
        ("poly:degree=2,scale=0.5,offset=1", 25.0),
        ("gaussian:sigma=0.2", 0.367_879_441_171_442_33),
        ("laplacian:sigma=1", 0.106_877_925_660_385_74),
        (
            "anova:sigma=1,degree=2",
            (0.367_879_441_171_442_33f64 + 0.018_315_638_888_734_18).powi(2),
        ),
        ("linear*(linear+gaussian:sigma=0.2)", 8.0 * 8.367_879_441_171_442),
    ];
    for (text, value) in references {
        let reference = Reference { x, z, value };
        let (distance, _) = testkit::farthest(&*kernel(text), &[reference]).unwrap();
        assert!(distance <= 1e-14, "{text}: {distance:e}");
    }
    let right = Reference { x, z, value: 8.0 };
    let wrong = Reference { value: 10.0, ..right };
    assert_eq!(testkit::farthest(&*kernel("linear"), &[right, wrong]), Some((0.2, wrong)));
    let nothing = Tampered(Fault::NotFinite);
    let orthogonal = Reference { x, z: &[2.0, -1.0], value: 0.0 };
    assert_eq!(testkit::farthest(&nothing, &[orthogonal]), Some((f64::INFINITY, orthogonal)));
    assert_eq!(testkit::farthest(&nothing, &[]), None);
}

/// A tree of sums and products with kernels of the registry for leaves.
fn tree() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("linear".to_owned()),
        Just("sigmoid:scale=1,offset=-1".to_owned()),
        (1e-30..1e30f64).prop_map(|sigma| format!("gaussian:sigma={sigma:e}")),
        (1..5u32, 0.0..2.0f64).prop_map(|(d, o)| format!("poly:degree={d},scale=1,offset={o}")),
    ];
    leaf.prop_recursive(6, 40, 2, |inner| {
        (inner.clone(), inner, prop_oneof![Just('+'), Just('*')])
            .prop_map(|(a, b, join)| format!("({a}){join}({b})"))
    })
}

/// The kernel of a text by its constructors alone, without the parser's reading of `+` and `*`.
fn built(text: &str) -> Box<dyn Kernel> {
    let mut depth = 0;
    for (at, symbol) in text.char_indices() {
        match symbol {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if symbol == ')' && depth == 0 {
            let (a, b) = (built(&text[1..at]), built(&text[at + 3..text.len() - 1]));
            return if text[at + 1..].starts_with('+') {
                Box::new(Sum(a, b))
            } else {
                Box::new(Product(a, b))
            };
        }
    }
    KernelRegistry::standard().parse(text).expect("a leaf")
}

proptest! {
    #[test]
    fn printing_and_parsing_are_inverse(text in tree()) {
        let kernel = built(&text);
        let registry = KernelRegistry::standard();
        let found = testkit::text_violations(&*kernel, &registry);
        prop_assert!(found.is_empty(), "{text}: {found:?}");
        // The very tree, not one of equal values.
        let back = registry.parse(&kernel.specification()).unwrap();
        prop_assert_eq!(format!("{back:?}"), format!("{kernel:?}"));
    }
}

#[test]
fn the_product_of_a_sum_keeps_its_parentheses() {
    let leaf = |text: &str| KernelRegistry::standard().parse(text).unwrap();
    let sum = || Box::new(Sum(leaf("linear"), leaf("gaussian:sigma=1")));
    let product = Product(sum(), leaf("linear"));
    assert_eq!(product.specification(), "(linear+gaussian:sigma=1)*linear");
    let product = Product(leaf("linear"), Box::new(Product(leaf("linear"), sum())));
    assert_eq!(product.specification(), "linear*(linear*(linear+gaussian:sigma=1))");
    let sigmoid = Sum(sum(), Box::new(Sigmoid::new(1.0, 0.5).unwrap()));
    assert_eq!(sigmoid.specification(), "linear+gaussian:sigma=1+sigmoid:scale=1,offset=0.5");
}

#[test]
fn parentheses_that_do_not_fit_are_refused() {
    let deep = format!("{}linear{}", "(".repeat(200_000), ")".repeat(200_000));
    let cases = [
        ("(linear", "it does not close a parenthesis that it opens"),
        ("linear)", "it closes a parenthesis that it has not opened"),
        ("(linear)linear", "'(linear)linear' lacks a + or a * beside a parenthesis"),
        ("linear(linear)", "'linear(linear)' lacks a + or a * beside a parenthesis"),
        ("linear*()", "the name of a kernel is missing"),
        (deep.as_str(), "it has more than 100 parts"),
    ];
    for (text, reason) in cases {
        let message = KernelRegistry::standard().parse(text).unwrap_err().to_string();
        assert!(message.contains(reason), "{message}");
        assert!(message.len() < 1000, "{message}");
    }
}
