//! Fits with a Gaussian kernel on ever more landmarks, beside the exact kernel: the objective falls
//! to that of all samples.
//!
//!     cargo run --release -p margins-kernels --example landmarks

use margins_data::generate::{Example, GaussianMixture};
use margins_kernels::features::{LandmarkSampling, NystromMap};
use margins_kernels::{Gaussian, Gram, KernelObjective};
use margins_losses::LeakyHockeyStick;
use margins_optim::{Lambda, Objective, Options, fit};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = GaussianMixture::example(Example::One, 1)?.sample(400, 2)?;
    let (kernel, lambda) = (Gaussian::new(0.5)?, Lambda::new(1e-3)?);
    let options = Options::default();
    for m in [10, 25, 50, 100, 200] {
        let map = NystromMap::new(&kernel, data.design(), m, LandmarkSampling::Uniform, 3)?;
        let features = map.transform(&kernel, data.design())?;
        let objective = Objective::new(&LeakyHockeyStick, &features, data.labels())?;
        let report = fit(&objective, lambda, &options)?.report;
        println!(
            "{m:>5} landmarks: objective {:.6}, gap {:.1e}",
            report.objective, report.duality_gap
        );
    }
    let gram = Gram::new(&kernel, data.design())?;
    let objective = KernelObjective::new(&LeakyHockeyStick, &gram, data.labels())?;
    let report = margins_kernels::fit(&objective, lambda, &options)?.report;
    println!("  all samples: objective {:.6}, gap {:.1e}", report.objective, report.duality_gap);
    Ok(())
}
