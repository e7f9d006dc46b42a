//! Samples in memory, for the solvers that are generic over samples.

use std::rc::Rc;

use margins_data::Design;
use margins_losses::{HomogeneousTail, MarginLoss};
use nalgebra::DMatrix;

use crate::Error;
use crate::problem::summation::sum;
use crate::problem::weighted;
use crate::problem::{
    Block, FenchelYoung, FreeColumns, MarginSummary, Margins, Objective, Point, Sums,
};
use crate::products::weighted_gram;
use crate::space::{Curvature, Decline, Duals, Extent, Scores, Smoothing, Space};

/// Samples in memory.
pub struct InMemory<'o, 'a, L: MarginLoss + ?Sized> {
    pub(crate) objective: &'o Objective<'a, L>,
    pub(crate) margins: Margins<'o, L>,
    pub(crate) extent: Rc<Extent>,
    /// The curvatures `D` that are kept.
    curvatures: Vec<f64>,
    /// The values of the free columns, if there are any.
    block: Option<Block>,
    /// The duals about which the loss is smoothed; by default zeros.
    centres: Option<Vec<f64>>,
}

impl<'o, 'a, L: MarginLoss + ?Sized> InMemory<'o, 'a, L> {
    /// Returns the samples of an objective.
    pub fn new(objective: &'o Objective<'a, L>) -> Self {
        Self::with_extent(objective, Rc::new(Extent::of(&objective.design)))
    }

    /// Returns the samples of an objective over a design whose extent is known.
    pub fn with_extent(objective: &'o Objective<'a, L>, extent: Rc<Extent>) -> Self {
        let margins = objective.risk.margins();
        let block = (!objective.free.is_empty())
            .then(|| Block::of(&objective.design, &objective.free_part()));
        InMemory { objective, margins, extent, curvatures: Vec::new(), block, centres: None }
    }

    /// Returns the change of the best intercept with these changes of the scores, to first order; 0 if the
    /// problem has no intercept.
    pub(crate) fn intercept_along(&self, changes: &[f64]) -> f64 {
        if !self.has_intercept() {
            return 0.0;
        }
        let [along, total] = self.margins.curvature_with(changes);
        if total > 0.0 { -along / total } else { 0.0 }
    }

    /// Returns `X d` for coefficients d, and the derivative of the risk in the intercept where the scores
    /// have moved by `X d + shift`; writes the gradient in the coefficients there. The samples are read
    /// once.
    pub(crate) fn ahead(&self, coef: &[f64], shift: f64, gradient: &mut [f64]) -> (Vec<f64>, f64) {
        let margins = &self.margins;
        let pulls = |rows, products: &[f64], out: &mut [f64]| {
            margins.pulls_ahead(rows, products, shift, out);
        };
        self.objective.design.multiply_both(coef, pulls, gradient)
    }
}

impl<L: MarginLoss + ?Sized> Space for InMemory<'_, '_, L> {
    fn shape(&self) -> (usize, usize) {
        (self.objective.design.rows(), self.objective.design.columns())
    }

    fn is_sparse(&self) -> bool {
        self.objective.design.is_sparse()
    }

    fn has_intercept(&self) -> bool {
        self.objective.risk.intercept
    }

    fn free(&self) -> FreeColumns {
        self.objective.free.clone()
    }

    fn tail(&self) -> Option<HomogeneousTail> {
        self.objective.risk.loss.homogeneous_tail()
    }

    fn decline(&self) -> Decline {
        Decline::of(self.objective.risk.loss)
    }

    fn extent(&self) -> &Extent {
        &self.extent
    }

    fn mean_square(&self) -> f64 {
        self.objective.mean_square()
    }

    /// Losses with kinks have other methods in memory, but where there are free columns.
    fn check_loss(&self) -> Result<(), Error> {
        match self.block {
            Some(_) => self.objective.risk.check_convex(),
            None => self.objective.risk.check_loss(),
        }
    }

    fn is_unbounded(&self) -> bool {
        self.objective.risk.is_unbounded()
    }
}

impl<L: MarginLoss + ?Sized> Scores for InMemory<'_, '_, L> {
    type Products = Vec<f64>;

    fn products(&mut self, coef: &[f64]) -> Vec<f64> {
        let mut products = vec![0.0; self.objective.design.rows()];
        self.objective.design.multiply(coef, &mut products);
        products
    }

    fn set(&mut self, products: &Vec<f64>, intercept: f64) -> f64 {
        self.margins.set(products, intercept)
    }

    fn set_accurately(&mut self, intercept: f64, coef: &[f64]) -> bool {
        let n = self.objective.design.rows();
        let (mut high, mut low) = (vec![0.0; n], vec![0.0; n]);
        self.objective.design.multiply_accurately(coef, &mut high, &mut low);
        self.margins.set_accurately(&high, &low, intercept);
        true
    }

    fn settle(&mut self, products: &Vec<f64>, intercept: f64) -> f64 {
        self.margins.settle(products, intercept)
    }

    fn settle_step(&mut self, point: &Point, direction: &Point, t: f64) -> f64 {
        self.margins.settle_step(point, direction, t)
    }

    fn along(&mut self, point: &Point, direction: &Point, t: f64) -> f64 {
        self.margins.slope_along(point, direction, t)
    }

    fn risk_at(&mut self, products: &Vec<f64>, intercept: f64) -> f64 {
        self.margins.risk_at(products, intercept)
    }

    fn sums(&mut self) -> Sums {
        self.margins.sums()
    }

    fn violation(&mut self, intercept: f64, coef: &[f64]) -> f64 {
        let direction = self.objective.free_part().of(intercept, coef);
        let Some(block) = &self.block else { return 0.0 };
        self.objective.risk.violation(block, &direction)
    }

    fn gradient(&mut self, out: &mut [f64]) {
        self.objective.design.multiply_transposed_by(|i| self.margins.pull(i), out);
    }

    fn is_contradicted(&mut self, point: &Point) -> bool {
        self.objective.risk.is_contradicted(&point.products, point.intercept)
    }

    fn summary(&mut self) -> MarginSummary {
        self.margins.summary()
    }

    fn all_beyond(&mut self, point: &Point, from: f64) -> bool {
        self.objective.risk.all_beyond(&point.products, point.intercept, from)
    }
}

impl<L: MarginLoss + ?Sized> Curvature for InMemory<'_, '_, L> {
    fn keep_curvatures(&mut self) {
        self.curvatures = self.margins.curvatures();
    }

    fn forget_curvatures(&mut self) {
        self.curvatures = Vec::new();
    }

    fn curved(&mut self) -> Option<(&Design, &[f64])> {
        Some((&self.objective.design, &self.curvatures))
    }

    fn curvature(&mut self) -> f64 {
        self.curvatures.iter().sum()
    }

    fn normal(&mut self, shift: f64, v: &[f64], out: &mut [f64]) -> f64 {
        self.objective.design.multiply_normal(&self.curvatures, shift, v, out)
    }

    fn gram(&mut self, out: &mut DMatrix<f64>) {
        weighted_gram(&self.objective.design, &self.curvatures, out);
    }

    fn diagonal(&mut self, out: &mut [f64]) {
        out.fill(0.0);
        out[0] = self.curvatures.iter().sum();
        for (sample, &d) in self.objective.design.samples().zip(&self.curvatures) {
            if d > 0.0 {
                sample.for_each(|column, x| out[column + 1] += d * x * x);
            }
        }
    }
}

impl<L: MarginLoss + ?Sized> Duals for InMemory<'_, '_, L> {
    type Duals = Vec<f64>;

    fn predict(&mut self, mut duals: Vec<f64>, change: &Point) -> Vec<f64> {
        let risk = &self.objective.risk;
        risk.predict(&mut duals, &self.curvatures, |i| change.products[i] + change.intercept);
        duals
    }

    fn duals(&mut self) -> Vec<f64> {
        self.margins.duals()
    }

    fn balance(&mut self, duals: &mut Vec<f64>) {
        match &self.block {
            Some(block) => self.objective.risk.balance_block(block, duals),
            None => self.objective.risk.balance(duals),
        }
    }

    fn total_dual(&mut self, duals: &Vec<f64>) -> f64 {
        let weights = &self.objective.risk.weights;
        let [total] = sum(duals.len(), &|i| [weighted(weights.get(i), duals[i].abs())]);
        total
    }

    fn pull(&mut self, duals: &Vec<f64>, accurately: bool, out: &mut [f64]) {
        let design = &self.objective.design;
        let pulls = self.objective.risk.pulls(duals);
        if accurately {
            design.multiply_transposed_accurately(&pulls, out);
        } else {
            design.multiply_transposed(&pulls, out);
        }
    }

    fn imbalance(&mut self, duals: &Vec<f64>) -> f64 {
        self.objective.risk.imbalance(duals)
    }

    fn fenchel_young(&mut self, duals: &Vec<f64>) -> FenchelYoung {
        self.margins.risk.fenchel_young(self.margins.get(), duals)
    }
}

impl<L: MarginLoss + ?Sized> Smoothing for InMemory<'_, '_, L> {
    fn is_smoothed(&self) -> bool {
        self.block.is_some() && !self.objective.risk.loss.is_differentiable()
    }

    fn smooth(&mut self, strength: f64) {
        if !self.is_smoothed() {
            return;
        }
        let risk = &self.objective.risk;
        self.margins = risk.smoothed_margins(self.centres.as_deref(), strength);
    }

    fn centre(&mut self, at: Option<&Point>) {
        self.centres = at.map(|point| {
            self.margins.set(&point.products, point.intercept);
            self.margins.duals()
        });
    }
}
