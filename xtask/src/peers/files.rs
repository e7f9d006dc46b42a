//! The files of the rows, some of which are drawn.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use margins::data::Standardizer;
use margins::data::read::{self, ReadOptions};
use margins::model::write_atomically;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::rows::File;
use crate::Failure;

/// Returns the path of a file, which is drawn first if it is not there yet.
pub(super) fn find(file: &File, shared: &Path, work: &Path) -> Result<PathBuf, Failure> {
    let path = match file {
        File::Shared(name) => shared.join(name),
        File::Covtype(rows) => {
            let path = work.join(format!("covtype{rows}.csv"));
            if !path.exists() {
                draw(&shared.join("data/covtype.csv.gz"), *rows, &path)?;
            }
            path
        }
    };
    match path.exists() {
        true => Ok(path),
        false => Err(format!("{} is missing; --shared names its folder", path.display()).into()),
    }
}

/// Draws rows of a table without replacement, by seed 1, gives them five folds in turn, and writes them with every column
/// of the whole table at mean 0 and deviation 1.
fn draw(table: &Path, rows: usize, to: &Path) -> Result<(), Failure> {
    let data = read::dataset(table, &ReadOptions::default())?;
    let standard = Standardizer::fit(data.design(), None).center_and_scale(data.design())?;
    let mut order: Vec<usize> = (0..data.rows()).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(1));
    order.truncate(rows);
    let drawn = data.with_design(standard)?.select(&order);
    let names = drawn.feature_names().unwrap_or_default().join(",");
    let mut text = format!("{names},label,fold\n");
    let design = drawn.design();
    let mut features = vec![0.0; drawn.columns()];
    for (i, sign) in drawn.labels().signs().iter().enumerate() {
        features.fill(0.0);
        design.sample(i).add_to(1.0, &mut features);
        for value in &features {
            write!(text, "{value:.6},")?;
        }
        writeln!(text, "{sign},{}", i % 5 + 1)?;
    }
    fs::create_dir_all(to.parent().unwrap_or(Path::new(".")))?;
    Ok(write_atomically(to, |out| out.write_all(text.as_bytes()))?)
}
