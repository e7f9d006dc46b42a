//! A search for the noise that misleads the minimisers of convex surrogates most.

use clap::Args;
use margins::data::Design;
use margins::data::generate::MassartDistribution;
use margins::losses::{Hinge, LeakyRelu, Logistic, MarginLoss};
use margins::massart::baselines::surrogate;
use margins::massart::cutting_planes::Method;
use margins::massart::{Plan, Problem, SphereSample};
use margins::optim::method::Limits;
use margins_experiments::figure::{Axis, Series, panel};
use margins_experiments::{Document, Figure, Table};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::instance::{Batch, batch_size, sgd};
use crate::Failure;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Random settings a problem
    #[arg(long, default_value_t = 2000)]
    draws: usize,
    /// Random changes of the best one
    #[arg(long, default_value_t = 3000)]
    changes: usize,
    /// Seed of the search
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const DIMENSIONS: [usize; 2] = [2, 3];
const RATES: [f64; 5] = [0.1, 0.2, 0.3, 0.4, 0.45];
const MARGINS: [f64; 2] = [0.05, 0.1];

#[derive(Clone, Copy, PartialEq, Debug)]
enum Surrogate {
    /// With slope eta.
    LeakyRelu,
    Hinge,
    Logistic,
}

impl Surrogate {
    const ALL: [Surrogate; 3] = [Surrogate::LeakyRelu, Surrogate::Hinge, Surrogate::Logistic];

    fn name(self) -> &'static str {
        match self {
            Surrogate::LeakyRelu => "LeakyReLU",
            Surrogate::Hinge => "hinge",
            Surrogate::Logistic => "logistic",
        }
    }

    fn loss(self, eta: f64) -> Result<Box<dyn MarginLoss>, Failure> {
        Ok(match self {
            Surrogate::LeakyRelu => Box::new(LeakyRelu::new(eta)?),
            Surrogate::Hinge => Box::new(Hinge),
            Surrogate::Logistic => Box::new(Logistic),
        })
    }

    /// Returns the radius of the ball to search: that of LeakyReLU may be any, the others have
    /// their minimiser inside.
    fn radius(self) -> f64 {
        if self == Surrogate::LeakyRelu { 1.0 } else { 30.0 }
    }
}

/// `z = y x = height w* + sqrt(1 - height^2) across`, with `w* = e_1` and a unit vector across.
#[derive(Clone, Debug)]
struct Atom {
    height: f64,
    across: Vec<f64>,
    mass: f64,
    noisy: bool,
}

impl Atom {
    fn draw(d: usize, gamma: f64, random: &mut ChaCha8Rng) -> Self {
        let noisy = random.random();
        let mut atom = Atom { height: gamma, across: vec![0.0; d - 1], mass: 1.0, noisy };
        atom.change(gamma, 1.0, random);
        atom
    }

    /// Changes the height, which is often gamma, the direction and the mass by about this size.
    fn change(&mut self, gamma: f64, size: f64, random: &mut ChaCha8Rng) {
        let mut normal = || -> f64 { StandardNormal.sample(&mut *random) };
        let moved = self.height + size * normal();
        self.across.iter_mut().for_each(|a| *a += size * normal());
        self.mass *= (size * normal()).exp();
        let norm = self.across.iter().map(|a| a * a).sum::<f64>().sqrt();
        self.across.iter_mut().for_each(|a| *a /= norm);
        let on_the_edge: bool = random.random();
        self.height = if on_the_edge { gamma } else { moved.clamp(gamma, 1.0) };
    }

    fn point(&self) -> Vec<f64> {
        let rest = (1.0 - self.height * self.height).max(0.0).sqrt();
        std::iter::once(self.height).chain(self.across.iter().map(|a| rest * a)).collect()
    }
}

/// Returns points with the label +1: the mirror images with the label -1 would change neither a
/// risk nor, off ties, an error.
fn distribution(atoms: &[Atom], eta: f64) -> Result<MassartDistribution, Failure> {
    let design = Design::from_rows(&atoms.iter().map(Atom::point).collect::<Vec<_>>())?;
    let masses = atoms.iter().map(|atom| atom.mass).collect();
    let rates = atoms.iter().map(|atom| if atom.noisy { eta } else { 0.0 }).collect();
    Ok(MassartDistribution::new(design, Some(masses), vec![1.0; atoms.len()], rates)?)
}

/// Returns the error of the minimiser, points within 1e-4 of its boundary taken for right; -1 if
/// there is no minimiser.
fn error(noisy: &MassartDistribution, surrogate: Surrogate, eta: f64) -> Result<f64, Failure> {
    const NEAR: f64 = 1e-4;
    let (rows, signs, weights) = noisy.as_sample();
    let design = noisy.design().select(&rows);
    let sample = SphereSample::new(&design, &signs)?.with_weights(weights)?;
    let (loss, radius) = (surrogate.loss(eta)?, surrogate.radius());
    let limits = Limits::default();
    let found =
        surrogate::minimize(Method::Ellipsoid, &*loss, radius, &sample, 1e-9, 3000, &limits);
    let norm = found.point.iter().map(|w| w * w).sum::<f64>().sqrt();
    let is_inside = surrogate == Surrogate::LeakyRelu || norm < 0.999 * radius;
    if found.gap > 1e-8 || norm <= NEAR || !is_inside {
        return Ok(-1.0);
    }
    let mut scores = vec![0.0; noisy.design().rows()];
    noisy.design().multiply(&found.point, &mut scores);
    // A clean label is +1.
    scores.iter_mut().filter(|s| s.abs() <= NEAR * norm).for_each(|s| *s = 1.0);
    Ok(noisy.error(&scores)?)
}

/// Returns the worst atoms found, and the error with them.
fn search(
    arguments: &Arguments,
    (surrogate, d, eta, gamma): (Surrogate, usize, f64, f64),
    stream: u64,
) -> Result<(Vec<Atom>, f64), Failure> {
    let mut random = ChaCha8Rng::seed_from_u64(arguments.seed);
    random.set_stream(stream);
    let mut worst = (Vec::new(), f64::NEG_INFINITY);
    for round in 0..arguments.draws + arguments.changes {
        let atoms: Vec<Atom> = if round < arguments.draws {
            let count = random.random_range(2..=4);
            (0..count).map(|_| Atom::draw(d, gamma, &mut random)).collect()
        } else {
            let mut atoms: Vec<Atom> = worst.0.clone();
            let size = *[0.3, 0.1, 0.03, 0.01].choose(&mut random).ok_or("no size")?;
            let at = random.random_range(0..atoms.len());
            atoms[at].change(gamma, size, &mut random);
            atoms
        };
        let found = error(&distribution(&atoms, eta)?, surrogate, eta)?;
        if found >= worst.1 {
            worst = (atoms, found);
        }
    }
    Ok(worst)
}

pub(crate) fn run(arguments: &Arguments) -> Result<Document, Failure> {
    let mut problems = Vec::new();
    for surrogate in Surrogate::ALL {
        for d in DIMENSIONS {
            for gamma in MARGINS {
                problems.extend(RATES.map(|eta| (surrogate, d, eta, gamma)));
            }
        }
    }
    let found = problems
        .par_iter()
        .enumerate()
        .map(|(k, &(surrogate, d, eta, gamma))| {
            let (atoms, worst) = search(arguments, (surrogate, d, eta, gamma), k as u64)?;
            let noisy = distribution(&atoms, eta)?;
            let problem = Problem::new(eta, gamma)?;
            let by_sgd = sgd(&noisy, &problem, &Plan::practical(&problem), 1)?;
            let by_cuts = Batch::Cuts.error(&noisy, &problem, batch_size(&problem, d), 1)?;
            let total: f64 = atoms.iter().map(|atom| atom.mass).sum();
            let atoms: Vec<String> = atoms
                .iter()
                .map(|atom| {
                    let point: Vec<String> =
                        atom.point().iter().map(|z| format!("{z:.4}")).collect();
                    let noise = if atom.noisy { eta } else { 0.0 };
                    format!("({}): {:.4}, {noise}", point.join(", "), atom.mass / total)
                })
                .collect();
            let excess = [worst - eta, by_sgd - eta, by_cuts - eta];
            let cells = [
                surrogate.name().to_owned(),
                d.to_string(),
                gamma.to_string(),
                eta.to_string(),
                signed(excess[0]),
                signed(excess[1]),
                signed(excess[2]),
                atoms.join("; "),
            ];
            Ok((excess, cells))
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    let about = format!(
        "A row is the worst of {} random settings of two to four points and {} random changes of \
         the best. It has the errors less eta of the exact minimiser, counting points within 1e-4 of its \
         boundary as right, and of both learners with epsilon = {}. Points are `y x: mass, \
         noise` for w* = e_1.",
        arguments.draws,
        arguments.changes,
        margins::massart::Target::default().epsilon()
    );
    let header = ["surrogate", "d", "gamma", "eta", "excess", "sgd", "cuts", "points"];
    let mut table = Table::new(header);
    let excess: Vec<[f64; 3]> = found.iter().map(|(excess, _)| *excess).collect();
    found.into_iter().for_each(|(_, cells)| table.push(cells));
    let largest = |of: &dyn Fn(Surrogate) -> bool, at: usize| {
        let pairs = problems.iter().zip(&excess).filter(|((surrogate, ..), _)| of(*surrogate));
        pairs.map(|(_, excess)| excess[at]).fold(f64::NEG_INFINITY, f64::max)
    };
    let by_surrogate = Surrogate::ALL.map(|surrogate| {
        let most = largest(&|other| other == surrogate, 0);
        format!("of the {} loss by up to {most:.2}", surrogate.name())
    });
    let finding = format!(
        "The minimiser errs more than eta: {}. On the same distributions the learners of the paper err at \
         most {:+.2} (algorithm 1) and {:+.2} (cutting planes) above eta.",
        by_surrogate.join(", "),
        largest(&|_| true, 1),
        largest(&|_| true, 2)
    );
    let document =
        Document::new("massart-surrogates", "How far noise misleads convex losses", finding);
    Ok(document.figure(figure(&problems, &excess)).text(about).table(table))
}

/// Returns a number with its sign and three decimals, and zero without one.
fn signed(number: f64) -> String {
    let text = format!("{number:+.3}");
    if &text[1..] == "0.000" { "0.000".to_owned() } else { text }
}

/// Returns the picture: the excess along the rate of the noise, the largest over dimensions and margins.
fn figure(problems: &[(Surrogate, usize, f64, f64)], excess: &[[f64; 3]]) -> Figure {
    let of_surrogate = |surrogate: Surrogate| {
        let names = ["minimiser of the loss", "algorithm 1", "cutting planes"];
        let series = names.into_iter().enumerate().map(|(at, name)| {
            let at_rate = |eta: f64| {
                let pairs = problems.iter().zip(excess);
                let same =
                    pairs.filter(|((other, _, rate, _), _)| *other == surrogate && *rate == eta);
                (eta, same.map(|(_, excess)| excess[at]).fold(f64::NEG_INFINITY, f64::max))
            };
            Series::line(name, RATES.map(at_rate).into())
        });
        let title = format!("Noise that misleads the {} loss most", surrogate.name());
        let axes = [Axis::new("eta"), Axis::new("error less eta, share")];
        panel(surrogate.name(), title, axes, series.collect())
    };
    let panels = Surrogate::ALL.map(of_surrogate).into();
    Figure::new("massart-surrogates-excess", panels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excess(surrogate: Surrogate) -> f64 {
        let arguments = Arguments { draws: 60, changes: 60, seed: 2 };
        let (atoms, worst) = search(&arguments, (surrogate, 2, 0.1, 0.05), 0).expect("a search");
        assert!(atoms.len() > 1);
        worst - 0.1
    }

    #[test]
    fn in_the_plane_a_short_search_misleads_hinge_and_logistic_loss_but_not_leaky_relu() {
        assert!(excess(Surrogate::Hinge) > 0.05);
        assert!(excess(Surrogate::Logistic) > 0.05);
        assert!(excess(Surrogate::LeakyRelu) < 1e-12);
    }
}
