//! The samples that algorithm 1 needs, along epsilon and along gamma.

use std::path::PathBuf;

use clap::Args;
use margins::optim::massart::{Problem, Schedule, Target};

use super::adversaries::Numbers;
use super::instance::{instance, sgd};
use super::{slope, write};
use crate::figure::{Axis, Figure, Panel, Series, Style};
use crate::{Failure, trials};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder for the table and the figure
    #[arg(long, default_value = "report")]
    out: PathBuf,
    /// Instances a setting
    #[arg(long, default_value_t = 40)]
    instances: usize,
    /// Threads, 0 for one a core
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

const D: usize = 20;
const ETA: f64 = 0.3;
// With larger ones a halfspace of the trap is within eta + epsilon after a few dozen samples.
const EPSILONS: [f64; 5] = [0.05, 0.035, 0.025, 0.0175, 0.0125];
const MARGINS: [f64; 5] = [0.1, 0.07, 0.05, 0.035, 0.025];
/// Beside which the other is varied.
const MIDDLE: (f64, f64) = (0.05, 0.1);
/// T is these powers of the root of 2.
const POWERS: std::ops::RangeInclusive<u32> = 16..=39;
/// Share of instances that must have an error of at most eta + epsilon.
const SUCCESS: f64 = 0.9;

fn samples(power: u32) -> usize {
    std::f64::consts::SQRT_2.powi(power as i32).round() as usize
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    std::fs::create_dir_all(&arguments.out)?;
    let (epsilon, gamma) = MIDDLE;
    let panels = [
        ("epsilon", EPSILONS.map(|epsilon| (epsilon, gamma))),
        ("gamma", MARGINS.map(|gamma| (epsilon, gamma))),
    ];
    let mut settings: Vec<(f64, f64)> = panels.iter().flat_map(|(_, list)| *list).collect();
    settings.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    settings.dedup();
    let keys: Vec<trials::Key> = settings
        .iter()
        .flat_map(|(e, g)| (0..arguments.instances).map(move |k| (format!("{e}/{g}"), k)))
        .collect();
    let path = arguments.out.join("massart-sample-complexity.journal");
    let name = "massart-sample-complexity 3";
    let found = trials::run(&path, name, &keys, arguments.threads, |(row, k)| {
        let (epsilon, gamma) = row.split_once('/').ok_or("not a setting")?;
        let target = Target::new(epsilon.parse()?, 0.05)?;
        let problem = Problem::new(ETA, gamma.parse()?)?.with_target(target);
        let noisy = instance(D, problem.margin.get(), ETA, "trap", *k as u64)?;
        let error = |power: u32| {
            let schedule = Schedule { steps: samples(power), ..Schedule::practical(&problem) };
            sgd(&noisy, &problem, &schedule, *k as u64)
        };
        POWERS.map(error).collect::<Result<Vec<f64>, _>>().map(Numbers)
    })?;
    let mut csv = String::from("epsilon,gamma,samples,mean_error,share_within\n");
    let mut needed = Vec::new();
    for ((epsilon, gamma), trials) in settings.iter().zip(found.chunks_exact(arguments.instances)) {
        let mut least = None;
        for (at, power) in POWERS.enumerate() {
            let errors: Vec<f64> = trials.iter().map(|trial| trial.0[at]).collect();
            let within = errors.iter().filter(|&&error| error <= ETA + epsilon).count();
            let share = within as f64 / errors.len() as f64;
            csv += &format!(
                "{epsilon},{gamma},{},{},{share}\n",
                samples(power),
                super::mean(&errors).0
            );
            least = if share >= SUCCESS { least.or(Some(power)) } else { None };
        }
        needed.push(((*epsilon, *gamma), least));
    }
    write(&arguments.out, "massart-sample-complexity-errors.csv", &csv)?;
    let mut text = format!(
        "# massart-sample-complexity\n\nThe least T, among powers of the root of 2, from which on algorithm 1 (practical step and selection) has an error of \
         at most eta + epsilon on {SUCCESS} of {} instances of the trap, d = {D}, eta = {ETA}.\n\n| epsilon | gamma | T |\n| --: | --: | --: |\n",
        arguments.instances
    );
    for ((epsilon, gamma), least) in &needed {
        let least = least.map_or("more".to_owned(), |power| format!("{}", samples(power)));
        text += &format!("| {epsilon} | {gamma} | {least} |\n");
    }
    text += "\n| slope in | fitted | theory | Chen et al. 2020 |\n| --- | --: | --: | --: |\n";
    let mut figure = Figure { name: "massart-sample-complexity", panels: Vec::new() };
    for (key, list) in panels {
        let points: Vec<(f64, f64)> = list
            .iter()
            .filter_map(|setting| {
                let (_, least) = needed.iter().find(|(other, _)| other == setting)?;
                let value = if key == "epsilon" { setting.0 } else { setting.1 };
                Some((-value.log2(), f64::from((*least)?) / 2.0))
            })
            .collect();
        let before = if key == "epsilon" { 3 } else { 4 };
        let fitted = slope(&points);
        text += &format!("| 1/{key} | {fitted:.2} | 2 | {before} |\n");
        let last = points.last().copied().unwrap_or((0.0, 0.0));
        let theory = points.iter().map(|p| (p.0, last.1 + 2.0 * (p.0 - last.0))).collect();
        figure.panels.push(Panel {
            key,
            title: format!("samples against 1/{key}, slope {fitted:.2}"),
            x: Axis {
                label: if key == "epsilon" { "log2 1/epsilon" } else { "log2 1/gamma" },
                range: (3.0, 6.6),
            },
            y: Axis { label: "log2 T", range: (8.0, 20.0) },
            series: vec![
                Series { name: "measured".to_owned(), points, style: Style::Marks },
                Series { name: "slope 2".to_owned(), points: theory, style: Style::Line },
            ],
        });
    }
    figure.write(&arguments.out).map_err(|error| error.to_string())?;
    write(&arguments.out, "massart-sample-complexity.md", &text)
}
