//! The cost of selecting one of all iterates.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use margins::optim::massart::{
    Candidates, Problem, Schedule, Sgd, Sphere, select, select_exhaustively,
};

use super::instance::{Drawn, instance};
use super::write;
use crate::Failure;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder for the table
    #[arg(long, default_value = "report")]
    out: PathBuf,
    /// Numbers of steps
    #[arg(long, value_delimiter = ',', default_values_t = [1000, 4000, 16000])]
    steps: Vec<usize>,
}

const D: usize = 50;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (gamma, eta) = (0.1, 0.3);
    let problem = Problem::new(eta, gamma)?;
    let schedule = Schedule::practical(&problem);
    let mut csv =
        String::from("adversary,steps,samples,products,all_products,seconds,exhaustive_seconds\n");
    let mut text = format!(
        "# massart-selection\n\nThe best of all T + 1 iterates on N = {} samples: inner products and seconds of the exhaustive search over \
         those of branch and bound, which finds the same iterate. d = {D}, gamma = {gamma}, eta = {eta}.\n\n\
         | adversary | T | products: all | computed | factor | seconds: all | branch and bound | factor |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: |\n",
        schedule.selection
    );
    for adversary in ["near", "trap"] {
        let noisy = instance(D, gamma, eta, adversary, 1)?;
        let selection = Drawn::new(&noisy, schedule.selection, 2);
        let sample = selection.sample()?;
        let points = Sphere::new(noisy.design())?;
        for &steps in &arguments.steps {
            let mut sgd = Sgd::new(problem, D, schedule.step)?;
            let mut candidates = Candidates::new(D);
            candidates.push(&sgd.coef());
            let draws = noisy.draw(steps, 3);
            for (&row, &y) in draws.rows.iter().zip(&draws.signs) {
                sgd.run(&points, std::iter::once((row, y)));
                candidates.push(&sgd.coef());
            }
            let start = Instant::now();
            let quick = select(&candidates, &sample);
            let seconds = start.elapsed().as_secs_f64();
            let start = Instant::now();
            let full = select_exhaustively(&candidates, &sample);
            let all = start.elapsed().as_secs_f64();
            if (quick.index, quick.error) != (full.index, full.error) {
                return Err(format!("{quick:?} differs from {full:?}").into());
            }
            csv += &format!(
                "{adversary},{steps},{},{},{},{seconds},{all}\n",
                sample.rows(),
                quick.products,
                full.products
            );
            text += &format!(
                "| {adversary} | {steps} | {} | {} | {:.0} | {all:.3} | {seconds:.3} | {:.0} |\n",
                full.products,
                quick.products,
                full.products as f64 / quick.products as f64,
                all / seconds
            );
        }
    }
    write(&arguments.out, "massart-selection.csv", &csv)?;
    write(&arguments.out, "massart-selection.md", &text)
}
