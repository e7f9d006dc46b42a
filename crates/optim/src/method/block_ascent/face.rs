//! Steps over the duals inside of their domain.

use margins_data::Memory;
use margins_losses::Interval;
use nalgebra::DMatrix;

use super::{BlockAscent, Expansion};
use crate::method::GrowingCholesky;
use crate::space::joint::JointSamples;

/// The largest number of duals in a face: its factor takes 128 MiB and a few seconds.
const MOST_MEMBERS: usize = 4096;

/// The share of the largest diagonal entry that is added to the diagonal of the matrix of a face.
const DAMPING: f64 = 1e-12;

/// The points that differ in the duals inside of their domain alone.
///
/// Where the conjugate is linear, the dual is a quadratic function there, with its largest value where
/// every margin of a member is at the kink of the loss. One system of equations leads there, unless a
/// dual meets the end of its domain on the way: it then leaves the face.
pub(super) struct Face {
    /// Sample and place of every member.
    members: Vec<(usize, usize)>,
    /// The duals times their weights over n, and the ends of their domains.
    duals: Vec<f64>,
    domains: Vec<Interval>,
    /// The domain of a dual.
    domain: Interval,
    /// What the margins lack to the kink.
    gradient: Vec<f64>,
    damping: f64,
    factor: GrowingCholesky<f64>,
    /// The duals of the samples that have a member.
    rows: Vec<(usize, Vec<f64>)>,
    weights: Vec<f64>,
}

impl Face {
    /// Returns the face that the duals of an ascent are in; `None` if the loss has no kink, if no or too many
    /// duals are inside, if the factor would cost more than the steps since the last one, or if the matrix
    /// has none.
    pub(super) fn of<E: Expansion>(
        ascent: &BlockAscent<E>,
        samples: &JointSamples<'_>,
    ) -> Option<Self> {
        /// The share of a domain that is rounding at its ends.
        const ROUNDING: f64 = 1e-12;
        /// The entries of a factor that cost what an entry of a changed coefficient does.
        const CHEAP: usize = 24;
        let (risk, rivals, weights) = samples.parts();
        let (kink, domain) = risk.kink()?;
        let (k, width) = (rivals.count(), risk.width());
        let least = ROUNDING * (domain.upper - domain.lower);
        let is_inside = |s: &f64| domain.lower + least < *s && *s < domain.upper - least;
        let inside = ascent.order.iter().flat_map(|&i| {
            let of_sample = &ascent.duals[i * width..(i + 1) * width];
            let places = of_sample.iter().enumerate().filter(|(_, s)| is_inside(s));
            places.map(move |(place, _)| (i, place))
        });
        let mut members: Vec<(usize, usize)> = inside.take(MOST_MEMBERS + 1).collect();
        members.sort_unstable();
        let order = members.len();
        let price = order * order / CHEAP * order / rivals.samples();
        // Products, the factor and room to make it.
        let bytes = 3 * order * order * size_of::<f64>();
        let has_room = || Memory::free().is_none_or(|free| bytes <= free.bytes());
        if order == 0 || order > MOST_MEMBERS || ascent.changes < price || !has_room() {
            return None;
        }
        let mut touched: Vec<usize> = members.iter().map(|(i, _)| *i).collect();
        touched.dedup();
        let products = ascent.expansion.products(&touched);
        let rows: Vec<(usize, Vec<f64>)> = (touched.iter())
            .map(|&i| (i, ascent.duals[i * width..(i + 1) * width].to_vec()))
            .collect();
        let place_of = |i: usize| touched.binary_search(&i).unwrap_or_default();
        let places: Vec<usize> = members.iter().map(|(i, _)| place_of(*i)).collect();
        let ends: Vec<[usize; 2]> = (members.iter())
            .map(|&(i, place)| {
                let class = rivals.class(i);
                [class, place + usize::from(place >= class)]
            })
            .collect();
        let half = 0.5 / ascent.lambda.get();
        let entry = |m: usize, l: usize| {
            let (a, b) = (ends[m], ends[l]);
            let same = f64::from(u8::from(a[0] == b[0])) + f64::from(u8::from(a[1] == b[1]));
            let crossed = f64::from(u8::from(a[0] == b[1])) + f64::from(u8::from(a[1] == b[0]));
            half * (products[(places[m], places[l])] + ascent.constant) * (same - crossed)
        };
        let damping = DAMPING * (0..order).map(|m| entry(m, m)).fold(0.0, f64::max);
        let mut factor = GrowingCholesky::new(order);
        if !factor.extend(order, |m, l| entry(m, l) + if m == l { damping } else { 0.0 }) {
            return None;
        }
        let (mut scores, mut margins) = (vec![0.0; k], DMatrix::zeros(k - 1, touched.len()));
        for (&i, mut column) in touched.iter().zip(margins.column_iter_mut()) {
            ascent.write_margins(samples, i, &mut scores, column.as_mut_slice());
        }
        let each = || members.iter().zip(&places);
        let weights: Vec<f64> = members.iter().map(|(i, _)| weights.get(*i)).collect();
        Some(Face {
            gradient: each().map(|((_, place), at)| kink - margins[(*place, *at)]).collect(),
            duals: each().zip(&weights).map(|(((_, p), at), c)| c * rows[*at].1[*p]).collect(),
            domains: weights
                .iter()
                .map(|c| Interval::new(c * domain.lower, c * domain.upper))
                .collect(),
            domain,
            members,
            damping,
            factor,
            rows,
            weights,
        })
    }

    /// Climbs towards the top of the face, or of the one that it ends in, and returns the duals of the samples
    /// there. It stops where more steps would cost more than a new factor.
    pub(super) fn climbed(mut self) -> Vec<(usize, Vec<f64>)> {
        let most = 10 + self.members.len() / 16;
        for _ in 0..most {
            let mut step = self.gradient.clone();
            self.factor.solve(&mut step);
            let met = self.end_met(&step);
            let share = met.map_or(1.0, |(_, share)| share);
            for (m, d) in step.iter().enumerate() {
                self.duals[m] += share * d;
                // The matrix without damping takes the step to this.
                self.gradient[m] -= share * (self.gradient[m] - self.damping * d);
            }
            let Some((m, _)) = met else { break };
            self.leave(m, step[m] > 0.0);
            if self.members.is_empty() {
                break;
            }
        }
        for m in 0..self.members.len() {
            self.write(m, self.duals[m] / self.weights[m]);
        }
        self.rows
    }

    /// Returns the member that first meets the end of its domain, and the share of the step up to there, if
    /// it is not the whole.
    fn end_met(&self, step: &[f64]) -> Option<(usize, f64)> {
        let room = |m: usize| match step[m] {
            0.0 => f64::INFINITY,
            d if d > 0.0 => (self.domains[m].upper - self.duals[m]) / d,
            d => (self.domains[m].lower - self.duals[m]) / d,
        };
        (0..step.len())
            .map(|m| (m, room(m)))
            .filter(|(_, share)| *share < 1.0)
            .min_by(|one, other| one.1.total_cmp(&other.1))
    }

    /// Takes a member that has met the end of its domain out of the face.
    fn leave(&mut self, m: usize, at_upper: bool) {
        let Interval { lower, upper } = self.domains[m];
        self.write(m, if at_upper { upper } else { lower } / self.weights[m]);
        self.members.remove(m);
        self.duals.remove(m);
        self.domains.remove(m);
        self.gradient.remove(m);
        self.weights.remove(m);
        self.factor.remove(m);
    }

    /// Writes a dual to its row.
    fn write(&mut self, m: usize, dual: f64) {
        let (i, place) = self.members[m];
        if let Ok(at) = self.rows.binary_search_by_key(&i, |(i, _)| *i) {
            self.rows[at].1[place] = dual.clamp(self.domain.lower, self.domain.upper);
        }
    }
}
