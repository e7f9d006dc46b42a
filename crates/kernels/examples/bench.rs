use margins_data::read::{self, ReadOptions};
use margins_losses::LossRegistry;
use margins_optim::solver_kit::EmpiricalRisk;
use margins_optim::{Options, lambda_grid};
use nalgebra::DMatrix;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let sigma: f64 = a[2].parse().unwrap();
    let options = ReadOptions {
        fold_column: Some("fold".into()),
        label: Some("label".into()),
        ..ReadOptions::default()
    };
    let data = read::dataset(a[1].as_ref(), &options).unwrap();
    let folds = data.folds().unwrap().to_vec();
    let loss = LossRegistry::standard().parse(&a[3]).unwrap();
    let x = data.design().to_dense();
    let t = std::time::Instant::now();
    let g = &x * x.transpose();
    let k = DMatrix::from_fn(x.nrows(), x.nrows(), |i, j| {
        (-sigma * (g[(i, i)] + g[(j, j)] - 2.0 * g[(i, j)]).max(0.0)).exp()
    });
    eprintln!("gram {:?}", t.elapsed());
    let t = std::time::Instant::now();
    let rows: Vec<usize> = (0..folds.len()).filter(|&i| folds[i] != 0).collect();
    let sub = k.select_rows(&rows).select_columns(&rows);
    let part = data.select(&rows);
    let risk = EmpiricalRisk::new(&*loss, part.labels()).unwrap();
    let lambdas = lambda_grid(1.0, 1e-7, 100).unwrap();
    let fits = margins_kernels::path_on(
        &risk,
        &sub,
        &lambdas,
        &Options { history: a.len() > 5, ..Options::default() },
    );
    let el = t.elapsed();
    for f in &fits {
        if a.len() > 4 {
            println!(
                "{:e} F {} gap {:e} it {} passes {} {:?}",
                f.lambda.get(),
                f.report.objective,
                f.report.relative_gap,
                f.report.iterations,
                f.report.passes,
                f.report.status
            );
            for h in &f.report.history {
                println!(
                    "    {} {} {:.9} {:e}",
                    h.iteration, h.passes, h.objective, h.relative_gap
                );
            }
        }
    }
    let c = fits.iter().filter(|f| f.report.converged()).count();
    println!(
        "{:?} certified {c} steps {} passes {}",
        el,
        fits.iter().map(|f| f.report.iterations).sum::<usize>(),
        fits.iter().map(|f| f.report.passes).sum::<usize>()
    );
}
