//! Linear paths beside the published algorithm: the same folds, lambdas, machine and run.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use margins::data::Dataset;
use margins::data::generate::{Example, GaussianMixture};
use margins::data::read::{self, ReadOptions};
use margins::losses::LeakyHockeyStick;
use margins::optim::{
    CrossValidatedPath, Lambda, Options, Solver, Training, cross_validate, lambda_grid,
};

use crate::Outcome;

/// One contestant's times and its last result.
struct Contestant<'a> {
    name: &'static str,
    training: Training<'a, LeakyHockeyStick>,
    times: Vec<Duration>,
    result: Option<CrossValidatedPath>,
}

impl<'a> Contestant<'a> {
    fn new(name: &'static str, options: Options<'a>) -> Self {
        let training = Training { options, ..Training::new(&LeakyHockeyStick) };
        Contestant { name, training, times: Vec::new(), result: None }
    }

    fn run(&mut self, data: &Dataset, folds: &[usize], lambdas: &[Lambda]) -> Outcome {
        let start = Instant::now();
        let result = cross_validate(&self.training, data, folds, lambdas)?;
        self.times.push(start.elapsed());
        self.result = Some(result);
        Ok(())
    }

    fn median(&mut self) -> f64 {
        self.times.sort();
        self.times[self.times.len() / 2].as_secs_f64()
    }
}

pub(crate) fn compare(files: &[PathBuf], repetitions: usize) -> Outcome {
    println!(
        "| data | n | p | method | seconds | ratio | certified lambdas | worst relative gap | most above the optimum |"
    );
    println!("| --- | --: | --: | --- | --: | --: | --: | --: | --: |");
    let simulated = [("example 3", Example::Three { p: 30 }), ("example 1", Example::One)];
    for (name, example) in simulated.into_iter().filter(|_| files.is_empty()) {
        let data = GaussianMixture::example(example, 1)?.sample(900, 1)?;
        let folds = (0..data.rows()).map(|row| row % 5).collect();
        compare_on(name, &data.with_folds(folds)?, repetitions.max(1))?;
    }
    for file in files {
        let fold_column = Some("fold".to_owned());
        let data = read::dataset(file, &ReadOptions { fold_column, ..ReadOptions::default() })?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        compare_on(&name, &data, repetitions.max(1))?;
    }
    Ok(())
}

fn compare_on(name: &str, data: &Dataset, repetitions: usize) -> Outcome {
    let folds = data.folds().ok_or("the data have no folds")?;
    let lambdas = lambda_grid(1.0, 1e-7, 100)?;
    let published = Options { solver: Solver::MM_PUBLISHED, ..Options::default() };
    let mut contestants = [
        Contestant::new("semismooth Newton, gap 1e-6", Options::default()),
        Contestant::new("published MM, change 1e-5", published),
    ];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for _ in 0..repetitions {
        for contestant in &mut contestants {
            pool.install(|| contestant.run(data, folds, &lambdas).map_err(|e| e.to_string()))?;
        }
    }
    let reference = contestants[0].median();
    let optimum: Vec<f64> = contestants[0]
        .result
        .iter()
        .flat_map(|cv| cv.fits.iter().map(|fit| fit.report.dual_objective))
        .collect();
    for contestant in &mut contestants {
        let seconds = contestant.median();
        let Some(cv) = &contestant.result else { continue };
        let worst = (cv.curve.worst_relative_gap.iter().zip(&cv.curve.reached))
            .filter(|(_, reached)| **reached)
            .fold(0.0, |worst: f64, (gap, _)| worst.max(*gap));
        let above = cv.fits.iter().zip(&optimum).map(|(fit, best)| fit.report.objective - best);
        println!(
            "| {name} | {} | {} | {} | {seconds:.4} | {:.1} | {} of {} | {worst:.1e} | {:.1e} |",
            data.rows(),
            data.columns(),
            contestant.name,
            seconds / reference,
            cv.curve.certified.iter().filter(|&&certified| certified).count(),
            cv.curve.reached.iter().filter(|&&reached| reached).count(),
            above.fold(0.0, f64::max),
        );
    }
    Ok(())
}
