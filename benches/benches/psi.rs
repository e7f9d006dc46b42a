//! The Psi-transform of margin pursuit and its inverse in closed form, beside a bracketed
//! root-finder and the procedure of the source: all roots of both cubics, the admissible one of
//! least risk, and a table of 2500 values to invert.

use std::f64::consts::SQRT_2;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use margins::calibration::MarginPursuitPsi;
use margins::calibration::cubic::getroot;
use margins::losses::catoni::SATURATION;
use margins::losses::{MarginLoss, MarginPursuit};

/// Grid points of the source.
const POINTS: usize = 2500;
const RISKS: usize = 1000;

type Procedure = fn(&MarginPursuit, f64) -> f64;

fn conditional_risk(loss: &MarginPursuit, eta: f64, u: f64) -> f64 {
    eta * loss.value(u) + (1.0 - eta) * loss.value(-u)
}

/// `L(0) - H` with the minimiser by bisection on the derivative of the conditional risk.
fn by_bisection(loss: &MarginPursuit, a: f64) -> f64 {
    let eta = 0.5 * (1.0 + a);
    let (mut low, mut high) = (0.0, loss.gamma());
    while high - low > 1e-15 * high {
        let middle = 0.5 * (low + high);
        let slope = eta * loss.derivative(middle) - (1.0 - eta) * loss.derivative(-middle);
        if slope < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    loss.value(0.0) - conditional_risk(loss, eta, high)
}

/// `L(0) - H` with the minimiser picked from the real roots of the (corrected) cubics, scale 1.
fn by_all_roots(loss: &MarginPursuit, a: f64) -> f64 {
    let (g, eta) = (loss.gamma(), 0.5 * (1.0 + a));
    let alpha = (eta - 1.0) / eta;
    let double = getroot(1.0, -3.0 * a * g, 3.0 * g * g - 6.0, a * (6.0 * g - g * g * g));
    let constant = 6.0 * (g + alpha * SATURATION - g * g * g / 6.0);
    let single = getroot(1.0, -3.0 * g, 3.0 * g * g - 6.0, constant);
    let mut least = loss.value(0.0);
    for (roots, saturated) in [(double, false), (single, true)] {
        let Ok(roots) = roots else { continue };
        for &u in roots.as_slice() {
            if (0.0..=g).contains(&u) && (g + u >= SQRT_2) == saturated {
                least = least.min(conditional_risk(loss, eta, u));
            }
        }
    }
    loss.value(0.0) - least
}

fn grid() -> Vec<f64> {
    (0..POINTS).map(|k| k as f64 / (POINTS - 1) as f64).collect()
}

fn evaluation(criterion: &mut Criterion) {
    let loss = MarginPursuit::new(1.0, 1.0).expect("positive");
    let exact = MarginPursuitPsi::from(loss);
    let grid = grid();
    for &a in &grid {
        for other in [by_bisection(&loss, a), by_all_roots(&loss, a)] {
            assert!((exact.value(a) - other).abs() < 1e-12, "the methods differ at {a}");
        }
    }
    let mut out = vec![0.0; POINTS];
    let mut group = criterion.benchmark_group("Psi on a grid of 2500 points");
    group.throughput(Throughput::Elements(POINTS as u64));
    group.bench_function("closed form", |bencher| {
        bencher.iter(|| exact.values(black_box(&grid), &mut out));
    });
    let procedures: [(&str, Procedure); 2] =
        [("bracketed root-finder", by_bisection), ("all roots of both cubics", by_all_roots)];
    for (name, procedure) in procedures {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for (o, &a) in out.iter_mut().zip(black_box(&grid)) {
                    *o = procedure(&loss, a);
                }
            });
        });
    }
    group.finish();
}

fn inverse(criterion: &mut Criterion) {
    let loss = MarginPursuit::new(1.0, 1.0).expect("positive");
    let exact = MarginPursuitPsi::from(loss);
    let risks: Vec<f64> =
        (1..=RISKS).map(|k| exact.maximum() * k as f64 / (RISKS + 1) as f64).collect();
    let mut out = vec![0.0; RISKS];
    let mut group = criterion.benchmark_group("inverse of Psi at 1000 risks");
    group.throughput(Throughput::Elements(RISKS as u64));
    group.bench_function("Newton on the closed form (1e-15)", |bencher| {
        bencher.iter(|| {
            for (o, &risk) in out.iter_mut().zip(black_box(&risks)) {
                *o = exact.inverse(risk);
            }
        });
    });
    group.bench_function("search on the grid of 2500 (4e-4)", |bencher| {
        bencher.iter(|| {
            for (o, &risk) in out.iter_mut().zip(black_box(&risks)) {
                *o = exact.grid_inverse(risk, POINTS).expect("a grid");
            }
        });
    });
    let grid = grid();
    group.bench_function("table of all roots, made once (4e-4)", |bencher| {
        bencher.iter(|| {
            let table: Vec<f64> = grid.iter().map(|&a| by_all_roots(&loss, a)).collect();
            for (o, &risk) in out.iter_mut().zip(black_box(&risks)) {
                *o = grid[table.partition_point(|&value| value <= risk) - 1];
            }
        });
    });
    group.bench_function("bisection over bisection (1e-15)", |bencher| {
        bencher.iter(|| {
            for (o, &risk) in out.iter_mut().zip(black_box(&risks)) {
                let (mut low, mut high) = (0.0, 1.0);
                while high - low > 1e-15 * high {
                    let middle = 0.5 * (low + high);
                    if by_bisection(&loss, middle) <= risk {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                *o = low;
            }
        });
    });
    group.finish();
}

criterion_group!(benches, evaluation, inverse);
criterion_main!(benches);
