use margins_data::{Design, Labels};
use margins_losses::LeakyHockeyStick;
use margins_optim::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let solver = match args[2].as_str() {
        "mm" => Solver::Mm,
        "mma" => Solver::MmAccelerated,
        _ => Solver::Newton,
    };
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let lab = head.iter().position(|h| *h == "label").unwrap();
    let fold = head.iter().position(|h| *h == "fold");
    let mut rows = vec![];
    let mut y = vec![];
    for l in lines {
        let v: Vec<f64> = l.split(',').map(|x| x.parse().unwrap()).collect();
        y.push(v[lab]);
        rows.push(
            v.iter()
                .enumerate()
                .filter(|(i, _)| *i != lab && Some(*i) != fold)
                .map(|(_, x)| *x)
                .collect::<Vec<_>>(),
        );
    }
    let design = Design::from_rows(&rows).unwrap();
    let labels = Labels::from_signs(y).unwrap();
    let obj = Objective::new(&LeakyHockeyStick, &design, &labels).unwrap();
    let opt = Options { solver, ..Options::default() };
    let grid = lambda_grid(1.0, 1e-7, 100).unwrap();
    for _ in 0..3 {
        let t = Instant::now();
        let fits = path(&obj, &grid, &opt, &|_| {}).unwrap();
        let el = t.elapsed();
        let its: usize = fits.iter().map(|f| f.report.iterations).sum();
        let bad = fits.iter().filter(|f| !f.report.converged()).count();
        let worst = fits.iter().map(|f| f.report.relative_gap).fold(0.0, f64::max);
        println!(
            "n={} p={} {:?} its={its} bad={bad} worst={worst:.2e}",
            design.rows(),
            design.columns(),
            el
        );
        if args.len() > 3 {
            for f in &fits {
                println!(
                    "{:.3e} {:.6} gap {:.1e} it {} {:?}",
                    f.lambda.get(),
                    f.report.objective,
                    f.report.relative_gap,
                    f.report.iterations,
                    f.report.status
                );
            }
            break;
        }
    }
}
