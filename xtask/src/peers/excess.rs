//! What other programs found, measured by our objective.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use margins::Registry;
use margins::data::read::{self, ReadOptions};
use margins::data::{Dataset, Memory};
use margins::kernels::{Gaussian, Gram};
use margins::losses::MarginLoss;
use nalgebra::DMatrix;
use serde_json::Value;

use super::rows::{Row, Work};
use super::{Arguments, ours};
use crate::Failure;

/// A problem of the opponent: at which lambda, and the bound that no objective lies below.
struct Problem {
    lambda: f64,
    lower_bound: f64,
}

/// Returns the largest relative excess of the objective of the opponent over the minimum, over the lambdas of a path. `None`
/// if the opponent reports no coefficients, or has another kernel than ours.
///
/// The objective is `F = mean L(y f(x)) + lambda ||f||^2` with the intercept as the opponent gives it; the minimum is known from
/// a certified fit of ours to the same problem, which is not timed.
pub(super) fn above_the_optimum(
    row: &Row,
    arguments: &Arguments,
    file: &Path,
    coefs: &Path,
    answer: &Value,
) -> Result<Option<f64>, Failure> {
    if !coefs.exists() {
        return Ok(None);
    }
    let sigma = row.sigma().or(answer["sigma"].as_f64());
    let problems = problems(row, arguments, file, sigma, answer)?;
    let bytes = fs::read(coefs)?;
    let numbers: Vec<f64> = bytes
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default()))
        .collect();
    let size = numbers.len() / problems.len();
    let solutions = DMatrix::from_vec(size, problems.len(), numbers);
    let fold_column = row.file.fold_column().map(str::to_owned);
    let options = ReadOptions { fold_column, ..ReadOptions::default() };
    let data = read::dataset(file, &options)?;
    let intercepts: Vec<f64> = solutions.row(0).iter().copied().collect();
    let coefs = solutions.rows(1, size - 1).into_owned();
    let (scores, squares) = scores(&data, sigma, &coefs)?;
    let loss = Registry::standard().losses.parse(row.loss)?;
    let objectives = problems.iter().enumerate().map(|(k, problem)| {
        let risk = mean_loss(&*loss, &data, scores.column(k).as_slice(), intercepts[k]);
        (risk + problem.lambda * squares[k]) / problem.lower_bound - 1.0
    });
    Ok(Some(objectives.fold(f64::NEG_INFINITY, f64::max)))
}

/// Fits the opponent's problems with our command.
fn problems(
    row: &Row,
    arguments: &Arguments,
    file: &Path,
    sigma: Option<f64>,
    answer: &Value,
) -> Result<Vec<Problem>, Failure> {
    let mut words = match &row.work {
        Work::Path { lambdas, .. } => {
            vec!["path".to_owned(), "--lambdas".to_owned(), ours::grid(*lambdas)]
        }
        Work::Fit { lambda, .. } | Work::Linear { lambda } => {
            vec!["fit".to_owned(), "--lambda".to_owned(), lambda.to_string()]
        }
        Work::Grid => {
            let lambda = answer["lambda"].as_f64().ok_or("the opponent reported no lambda")?;
            vec!["fit".to_owned(), "--lambda".to_owned(), lambda.to_string()]
        }
    };
    match sigma {
        Some(sigma) => words.extend(["--kernel".to_owned(), format!("gaussian:sigma={sigma}")]),
        None => words.push("--no-intercept".to_owned()),
    }
    if let Some(column) = row.file.fold_column() {
        words.extend(["--fold-column".to_owned(), column.to_owned()]);
    }
    words.extend(["--loss".to_owned(), row.loss.to_owned()]);
    words.extend(["--data".to_owned(), file.display().to_string()]);
    let fitted = ours::run_with(&arguments.margins, &words)?.answer;
    let fits = fitted["fits"].as_array().cloned().unwrap_or_else(|| vec![fitted["fit"].clone()]);
    fits.iter()
        .map(|fit| {
            let number = |key: &str| fit[key].as_f64().ok_or(format!("no {key} in {fit}"));
            Ok(Problem { lambda: number("lambda")?, lower_bound: number("dual_objective")? })
        })
        .collect()
}

/// Returns the scores without intercepts, a column a solution, and the squared norms of the solutions.
fn scores(
    data: &Dataset,
    sigma: Option<f64>,
    coefs: &DMatrix<f64>,
) -> Result<(DMatrix<f64>, Vec<f64>), Failure> {
    let Some(sigma) = sigma else {
        let mut scores = DMatrix::zeros(data.rows(), coefs.ncols());
        for (k, w) in coefs.column_iter().enumerate() {
            for (score, sample) in scores.column_mut(k).iter_mut().zip(data.design().samples()) {
                *score = sample.dot(w.as_slice());
            }
        }
        let squares = coefs.column_iter().map(|w| w.norm_squared()).collect();
        return Ok((scores, squares));
    };
    let memory = Memory::from_bytes(1 << 30);
    let gram = Gram::matrix_free(Arc::new(Gaussian::new(sigma)?), data.design().clone(), memory)?;
    let scores = gram.multiply(coefs);
    let squares = coefs.column_iter().zip(scores.column_iter()).map(|(a, f)| a.dot(&f)).collect();
    Ok((scores, squares))
}

fn mean_loss(loss: &dyn MarginLoss, data: &Dataset, scores: &[f64], intercept: f64) -> f64 {
    let terms = data.labels().signs().iter().zip(scores);
    let sum: f64 = terms.map(|(y, score)| loss.value(y * (score + intercept))).sum();
    sum / scores.len() as f64
}
