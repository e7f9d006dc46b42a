//! Times of tuning and fitting along n, as the time columns of table 2 have them for data sets:
//! cross-validation over 100 lambdas and the fit at the one selected. The times of the source, on its
//! machine, are beside ours in table 2.

use std::time::Instant;

use clap::Args;
use margins::data::Dataset;
use margins::data::generate::{Example, GaussianMixture};
use margins_experiments::figure::{Axis, Series, panel, power};
use margins_experiments::{Document, Figure, Table};

use super::comparison::{draw_seed, stream};
use super::tuning::{FOLDS, Space, leaky_hockey_stick};
use crate::Failure;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Numbers of samples
    #[arg(long, value_delimiter = ',', default_values_t = [50, 90, 200, 900])]
    sizes: Vec<usize>,
    /// Repetitions, of which the median counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Threads, 0 for one a core
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Seed of the samples and the folds
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const EXAMPLES: [(&str, Example); 2] =
    [("example 1", Example::One), ("example 3, sigma = sqrt(10)", Example::ThreeCorrected)];

/// The time that a classifier took, and what it is worth.
struct Measured {
    seconds: f64,
    /// Lambdas at which every fit reached its tolerance.
    certified: usize,
    lambdas: usize,
    worst_relative_gap: f64,
}

/// Returns the times.
pub(crate) fn run(arguments: &Arguments) -> Result<Document, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build()?;
    let mut csv =
        String::from("samples,n,p,space,seconds,certified_lambdas,lambdas,worst_relative_gap\n");
    let mut table =
        Table::new(["samples", "n", "p", "space", "seconds", "certified", "worst relative gap"]);
    let mut curves = Vec::new();
    let (mut all_certified, mut all_lambdas) = (0, 0);
    for (at, (title, example)) in EXAMPLES.into_iter().enumerate() {
        let first = curves.len();
        curves.extend(
            Space::BOTH.map(|space| Series::line(format!("{title}, {}", space.name()), vec![])),
        );
        let mut random = stream(arguments.seed, at as u32, 0);
        let mixture = GaussianMixture::example(example, draw_seed(&mut random))?;
        for &n in &arguments.sizes {
            let data = mixture.sample(n, draw_seed(&mut random))?;
            let p = data.columns();
            for (k, space) in Space::BOTH.into_iter().enumerate() {
                let Measured { seconds, certified, lambdas, worst_relative_gap } =
                    pool.install(|| median(&data, space, arguments))?;
                let name = space.name();
                curves[first + k].points.push((n as f64, seconds));
                all_certified += certified;
                all_lambdas += lambdas;
                csv += &format!(
                    "\"{title}\",{n},{p},{name},{seconds},{certified},{lambdas},{worst_relative_gap}\n"
                );
                table.push([
                    title.to_owned(),
                    n.to_string(),
                    p.to_string(),
                    name.to_owned(),
                    format!("{seconds:.3}"),
                    format!("{certified} of {lambdas}"),
                    format!("{worst_relative_gap:.1e}"),
                ]);
            }
        }
    }
    let text = format!(
        "The table shows the seconds to tune the leaky hockey stick classifier by {FOLDS}-fold \
         cross-validation over 100 lambdas and to fit it at the one selected, kernel matrix \
         included; they are the median of {} runs, and the number of threads is {}. *Certified* \
         are the lambdas at which the fits of all folds reached the tolerance.",
        arguments.repetitions,
        pool.current_num_threads()
    );
    let of_curve = |curve: &Series| {
        let last = curve.points.last().copied().unwrap_or_default();
        let grows = match curve.points.len() {
            0 | 1 => String::new(),
            _ => format!(", with n to the power {:.1}", power(&curve.points)),
        };
        format!("{} {:.2} s at n = {}{grows}", curve.name, last.1, last.0)
    };
    let finding = format!(
        "Tuning and fitting takes: {}. {all_certified} of {all_lambdas} lambdas are certified.",
        curves.iter().map(of_curve).collect::<Vec<_>>().join("; ")
    );
    let axes = [Axis::log("samples n"), Axis::log("time, s")];
    let seconds = panel("seconds", "Tuning and fitting the leaky hockey stick", axes, curves);
    Ok(Document::new("lhs-timing", "Times along the number of samples", finding)
        .figure(Figure::new("lhs-timing-seconds", vec![seconds]))
        .text(text)
        .table(table)
        .csv("lhs-timing", csv))
}

/// Returns the run with the median time.
fn median(data: &Dataset, space: Space, arguments: &Arguments) -> Result<Measured, Failure> {
    let mut runs = (0..arguments.repetitions)
        .map(|_| measure(data, space, arguments.seed))
        .collect::<Result<Vec<_>, _>>()?;
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    Ok(runs.swap_remove(runs.len() / 2))
}

fn measure(data: &Dataset, space: Space, seed: u64) -> Result<Measured, Failure> {
    let settings = leaky_hockey_stick(space, seed)?;
    let start = Instant::now();
    let fitted = settings.fit(data)?;
    let seconds = start.elapsed().as_secs_f64();
    let curve = fitted.report.curve.ok_or("a classifier without cross-validation")?;
    Ok(Measured {
        seconds,
        certified: curve.certified.iter().filter(|&&certified| certified).count(),
        lambdas: curve.lambdas.len(),
        worst_relative_gap: curve.worst_relative_gap.iter().copied().fold(0.0, f64::max),
    })
}
