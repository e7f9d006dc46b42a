//! The messages to shards.

use std::collections::BTreeMap;
use std::sync::Arc;

use margins_calibration::probability::Scheme;

use crate::problem::{BlockMove, FreePart, JointForm, Mobility};
use crate::shards::{Landmarks, StoredRows};
use crate::space::Extent;

/// A message to all shards: what they are to keep and to drop, and a question.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Request {
    /// True if a shard drops all slots first: the message then defines every slot in use.
    pub reset: bool,
    /// The numbers to compute and to keep, in this order.
    pub define: Vec<Definition>,
    /// The slots to drop; those that new ones follow from once these are computed.
    pub forget: Vec<u64>,
    /// The features that samples have from now on.
    pub features: FeatureSource,
    /// The weights of the samples.
    pub weighting: Weighting,
    /// The question.
    pub ask: Ask,
}

/// The features that samples have.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FeatureSource {
    /// The features of the message before.
    #[default]
    Same,
    /// The features that the samples came with.
    Own,
    /// The features that landmarks make of those that the samples came with.
    Of(Arc<Landmarks>),
}

/// The values in a numbered slot of a shard, one per sample.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Definition {
    /// The number of the slot.
    pub slot: u64,
    /// The values in it.
    pub kept: Kept,
}

/// Numbers that follow from coefficients, one per sample.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Kept {
    /// The products `X w` with these coefficients; in a [problem for all classes](JointProblem) the
    /// coefficients themselves.
    Products(Arc<Vec<f64>>),
    /// The duals that proximal steps lead to, one after another.
    Duals {
        /// The slot of the duals before the first of these steps; by default zeros.
        from: Option<u64>,
        /// The steps.
        steps: Vec<ProximalStep>,
    },
    /// The duals that those of a merged problem are for all samples.
    Spread {
        /// How the samples are merged.
        merging: Merging,
        /// The duals of the merged samples of every partition, in their order.
        duals: Arc<BTreeMap<usize, Vec<f64>>>,
    },
}

/// Which samples are merged: all of one class and one slope of the loss within a radius of their
/// margins at a point, but for those that are on no such line at other points.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Merging {
    /// The point.
    pub about: GivenPoint,
    /// The radius, above 0.
    pub radius: f64,
    /// The other points.
    pub left: Vec<GivenPoint>,
}

/// A point that is given by its coefficients.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GivenPoint {
    /// The coefficients.
    pub coef: Arc<Vec<f64>>,
    /// The intercept.
    pub intercept: f64,
}

/// A step from duals `a` to the duals `-e'(u)` of the loss smoothed about them,
/// `e(u) = max_s -L*(-s) - s u - (strength/2) (s - a)^2`, at the margins of a point.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProximalStep {
    /// The coefficients of the point.
    pub coef: Arc<Vec<f64>>,
    /// The intercept of the point.
    pub intercept: f64,
    /// The strength, above 0.
    pub strength: f64,
}

/// The rule that makes weights `c_i / n` in the objective of the weights that samples come with.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Weighting {
    /// The class whose samples are positive; those of all others are negative.
    pub class: u32,
    /// The only class whose samples are negative: those of all further classes are left out. By default none
    /// are.
    pub against: Option<u32>,
    /// The factor of the positive samples, divided by n.
    pub positive: f64,
    /// The factor of the negative samples, divided by n.
    pub negative: f64,
    /// The costs of the classes, one each, by which weights are multiplied too; 1 for classes beyond
    /// them.
    pub costs: Vec<f64>,
    /// The folds of the samples; by default those stored with them.
    pub draw: Option<FoldDraw>,
    /// The fold whose samples weigh nothing, if there is one.
    pub held_out: Option<u32>,
    /// The problem for all classes at once; by default the one of the class above against all others.
    pub joint: Option<Arc<JointProblem>>,
}

/// Several classes in one problem: coefficients are the k vectors `w_c` of the classes that take part, one
/// after another, and behind them the intercepts of all but the last.
///
/// A shard keeps the coefficients of products, and computes scores again for every question, for some
/// samples at a time: its memory does not grow with the number of samples times k.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JointProblem {
    /// The form of the loss.
    pub form: JointForm,
    /// The classes that take part, ascending: samples of others weigh nothing.
    pub classes: Vec<u32>,
    /// True if there are intercepts.
    pub intercepts: bool,
}

/// Folds that are drawn in every partition by itself: of each class every fold gets the same number of
/// samples there, but for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FoldDraw {
    /// The number of folds.
    pub count: u32,
    /// The seed.
    pub seed: u64,
}

impl Weighting {
    /// Returns the two classes whose samples alone take part; `None` if all do.
    pub(super) fn pair(&self) -> Option<(u32, u32)> {
        Some((self.class, self.against?))
    }
}

impl Default for Weighting {
    fn default() -> Self {
        Weighting {
            class: 1,
            against: None,
            positive: 1.0,
            negative: 1.0,
            costs: Vec::new(),
            draw: None,
            held_out: None,
            joint: None,
        }
    }
}

/// Scores: a combination of slots and an intercept, with the loss that is evaluated there.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Spot {
    /// The factors with the slots that they multiply.
    pub terms: Vec<(f64, u64)>,
    /// The intercept.
    pub intercept: f64,
    /// The strength with which the loss is [smoothed](crate::space::Smoothing::smooth); 0 for the
    /// loss itself.
    pub smoothing: f64,
    /// The slot of the duals about which it is smoothed; by default zeros.
    pub centre: Option<u64>,
}

/// A step by which a shard makes the duals that a question is about, one after another.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DualStep {
    /// Begins with the duals `-L'(u_i)` at scores.
    Slopes(Spot),
    /// Moves duals by `-L''(u_i) y_i d_i` for the curvatures at scores and a change d of scores.
    Predict {
        /// The scores at which the loss has the curvatures.
        at: Spot,
        /// The change of the scores.
        change: Spot,
    },
    /// Moves every dual by this factor times its distance to the nearer end of the domain.
    PullIn(f64),
    /// Moves all duals by this amount, as far as the domain lets them.
    Shift(f64),
    /// Moves duals by a function of the free columns.
    Block {
        /// The free columns.
        free: FreePart,
        /// The function.
        by: BlockMove,
    },
    /// Begins with the duals of a slot.
    Kept(u64),
}

/// A question about the samples. Its answer is sums in `added`, unless the variant says otherwise.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Ask {
    /// The [`Description`] of the samples, their features multiplied by these factors if there are
    /// any.
    Describe {
        /// The factors, one per feature.
        factors: Option<Vec<f64>>,
    },
    /// The sums over stored values `z = x/m_j - a_j` of `c`, `c z` and `c z^2`, three a feature. `largest`
    /// holds the smallest value with its sign changed and the largest value, two per feature; values that
    /// are not stored count as 0.
    Columns {
        /// The magnitudes `m_j`.
        magnitudes: Vec<f64>,
        /// The centres `a_j`.
        centres: Vec<f64>,
    },
    /// The risk at several scores.
    Risks(Vec<Spot>),
    /// At several scores the slope in the intercept, the mean slope, the curvature and the slope
    /// along a direction, four numbers each.
    Slopes {
        /// The scores.
        at: Vec<Spot>,
        /// The direction; none has a slope of 0.
        direction: Option<Spot>,
    },
    /// The risk, its size, the slopes, the arguments, the curvature and the slope in the intercept at
    /// scores, and the gradient behind them if it is asked for. `largest` holds the largest margin.
    Sums {
        /// The scores.
        at: Spot,
        /// True if the gradient is asked for.
        gradient: bool,
    },
    /// The diagonal of `Z' D Z`, `Z = [1 X]`, at scores.
    Diagonal(Spot),
    /// The sum of `D (X v + shift)` at scores, and `X' D (X v + shift)` behind it.
    Normal {
        /// The scores.
        at: Spot,
        /// The shift.
        shift: f64,
        /// The vector v.
        vector: Vec<f64>,
    },
    /// The lower triangle of `Z' D Z` at scores, column after column.
    Gram(Spot),
    /// The lower triangles of `Z' D_c Z` at scores, one class after another, where this share of the samples
    /// stands for all.
    ClassGrams {
        /// The scores.
        at: Spot,
        /// The share, above 0 and at most 1.
        share: f64,
    },
    /// The sums of `c |s|`, `c s y` and `c room(s)` for duals.
    Duals(Vec<DualStep>),
    /// The sums of duals over the free columns: `c s y z`, `c |s z|` and the lower triangle of
    /// `c m z z'`, column after column.
    Block {
        /// The free columns.
        free: FreePart,
        /// The duals.
        duals: Vec<DualStep>,
        /// The mobility m.
        by: Mobility,
    },
    /// The largest margin of the wrong sign along a direction in the free part, relative to the size of
    /// its terms, in `largest`.
    Violation {
        /// The free columns.
        free: FreePart,
        /// The direction, the intercept's part first if there is one.
        direction: Vec<f64>,
    },
    /// The sum `(1/n) sum c_i s_i y_i x_i` for duals.
    Pull {
        /// The duals.
        duals: Vec<DualStep>,
        /// True if the sums are to be made in twice the working precision.
        accurately: bool,
    },
    /// The Fenchel-Young sum of scores and duals, and its rounding. `largest` holds 1 if it
    /// contradicts the loss, else 0.
    FenchelYoung {
        /// The scores.
        at: Spot,
        /// The duals.
        duals: Vec<DualStep>,
    },
    /// The sums of `c`, of `c` where the class is wrong, and of `c (u - m)^k` for k up to 3, where
    /// c are the weights that the samples come with.
    Moments {
        /// The scores.
        at: Spot,
        /// The centre m.
        centre: f64,
    },
    /// The shares of the stored values of a partition that its samples have whose loss is on no line within
    /// each of these radii about the margins at scores, in `largest`.
    Bent {
        /// The scores.
        at: Spot,
        /// The radii.
        radii: Vec<f64>,
    },
    /// Some of the margins at scores, in `listed`; `largest` holds the largest margin and the least
    /// one with its sign changed.
    Margins(Spot),
    /// Some of the samples that count, drawn at random: this share of every partition.
    Sample {
        /// The share, between 0 and 1.
        share: f64,
    },
    /// The features of these rows, counted from 0 in their partition, in the order given.
    Rows(BTreeMap<usize, Vec<u32>>),
    /// How rules decide the samples of a fold, or all samples, by the weights that samples come with
    /// times the costs. For each rule: for each class the weight of its samples and of those decided
    /// wrongly, then, if probabilities are asked for, the sums of the log-loss and of the Brier score,
    /// NaN if the loss has no probabilities.
    Errors {
        /// The fold.
        fold: Option<u32>,
        /// How the functions of a rule decide, and which probabilities they have.
        scheme: Scheme,
        /// The number of classes.
        classes: usize,
        /// The rules.
        rules: Vec<Rule>,
        /// True to compute probabilities.
        probabilities: bool,
        /// True to list the samples in `listed`, for rules of two classes. For each sample: its weight,
        /// negative for the first class, then its score by each rule.
        scores: bool,
    },
    /// The samples, merged, with the weights that they have then: first those that stay alone, then the
    /// means of the others. A partition that would send more answers with the number of values.
    Merged {
        /// How they are merged.
        merging: Merging,
        /// The share of the samples, drawn as for [`Ask::Sample`], of which alone this is asked; 1 for all.
        of: f64,
        /// The share of its stored values that a partition may send.
        share: f64,
    },
}

/// Linear functions by which a class is decided, as a [`Scheme`] says, given by intercept and coefficients.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rule(pub Vec<(f64, Vec<f64>)>);

/// The answer of a shard for one partition.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reply {
    /// The number of the partition.
    pub partition: usize,
    /// The answer.
    pub answer: Answer,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Answer {
    /// The answer to [`Ask::Describe`].
    Described(Box<Description>),
    /// The answer to [`Ask::Sample`], and to [`Ask::Merged`] where the samples are few enough.
    Sampled(Box<SampledRows>),
    /// The answer to [`Ask::Rows`].
    Rows(Box<StoredRows>),
    /// The answer to any other question.
    Sums(Partial),
}

/// Sums over some of the samples.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Partial {
    /// The numbers that are added to those of other samples.
    pub added: Vec<f64>,
    /// The numbers of which the largest counts.
    pub largest: Vec<f64>,
    /// The numbers that stand behind those of other samples.
    pub listed: Vec<f64>,
}

/// Some of the samples.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SampledRows {
    /// The features.
    pub rows: StoredRows,
    /// The signs.
    pub signs: Vec<f64>,
    /// The weights in the objective.
    pub weights: Vec<f64>,
}

/// The samples of a partition in short.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Description {
    /// The specification of the loss with which the shard was made.
    pub loss: String,
    /// The number of rows that take part and are not held out.
    pub rows: usize,
    /// The number of features.
    pub features: usize,
    /// True if the features are stored sparsely.
    pub sparse: bool,
    /// The number of values that are stored.
    pub stored: usize,
    /// True if the samples have fold numbers.
    pub has_folds: bool,
    /// The sums of the weights of the positive and of the negative samples, in the
    /// [weighting](Weighting) of the request, or of every class of its problem for all of them.
    pub totals: Vec<f64>,
    /// The sums of `c ||x||^2` over the same samples.
    pub squares: Vec<f64>,
    /// The extent of the features, or of the differences between classes.
    pub extent: Extent,
}
