use margins_data::Design;

/// An intercept and coefficients with the products, `X w` or `K a`, that belong to them.
#[derive(Debug, Clone)]
pub struct Point {
    /// `b`.
    pub intercept: f64,
    /// `w`, or `a` of a kernel classifier.
    pub coef: Vec<f64>,
    /// The scores less the intercept, one a sample.
    pub products: Vec<f64>,
}

impl Point {
    /// The origin, for this number of samples and of coefficients.
    pub fn zero(samples: usize, coefficients: usize) -> Self {
        Point { intercept: 0.0, coef: vec![0.0; coefficients], products: vec![0.0; samples] }
    }

    /// With the products of a design.
    pub fn at(design: &Design, intercept: f64, coef: Vec<f64>) -> Self {
        let mut products = vec![0.0; design.rows()];
        design.multiply(&coef, &mut products);
        Point { intercept, coef, products }
    }

    /// `y_i f(x_i)`.
    pub(crate) fn margin(&self, i: usize, signs: &[f64]) -> f64 {
        signs[i] * (self.products[i] + self.intercept)
    }

    /// `self + t direction`.
    #[must_use]
    pub fn step(&self, t: f64, direction: &Point) -> Point {
        let move_by =
            |from: &[f64], by: &[f64]| from.iter().zip(by).map(|(a, d)| a + t * d).collect();
        Point {
            intercept: self.intercept + t * direction.intercept,
            coef: move_by(&self.coef, &direction.coef),
            products: move_by(&self.products, &direction.products),
        }
    }

    /// `factor self`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Point {
        let scale = |x: &[f64]| x.iter().map(|x| factor * x).collect();
        Point {
            intercept: factor * self.intercept,
            coef: scale(&self.coef),
            products: scale(&self.products),
        }
    }
}
