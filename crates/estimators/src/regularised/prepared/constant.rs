//! Fits to data in which one class has no weight: they always decide for the other class.

use margins_data::{Dataset, Listed};
use margins_model::{Model, Scheme};
use margins_optim::method::Elapsed;
use margins_optim::{Fit, Lambda, Report, Status};

/// Returns the sign that is decided for every sample where only one of the two classes has weight in
/// these rows, or in all; `None` where both have. Of two classes without weight the negative one is
/// decided, if some other row has weight.
pub(crate) fn decided_sign(data: &Dataset, rows: Option<&[usize]>) -> Option<f64> {
    let signs = data.labels().signs();
    let weighs = |row: usize| data.weights().is_none_or(|weights| weights[row] > 0.0);
    let has = |sign: f64| {
        let is_one = |row: usize| signs[row] == sign && weighs(row);
        match rows {
            Some(rows) => rows.iter().copied().any(is_one),
            None => (0..signs.len()).any(is_one),
        }
    };
    match (has(-1.0), has(1.0)) {
        (true, true) => None,
        (false, true) => Some(1.0),
        (true, false) => Some(-1.0),
        (false, false) => (0..signs.len()).any(weighs).then_some(-1.0),
    }
}

/// Returns the fits, one per lambda, that decide this sign for every sample. There is no objective to
/// minimise, so it is 0.
pub(crate) fn constant_fits(sign: f64, coefs: usize, lambdas: &[Lambda]) -> Vec<Fit> {
    let report = Report {
        objective: 0.0,
        dual_objective: 0.0,
        duality_gap: 0.0,
        relative_gap: 0.0,
        rounding: 0.0,
        gradient_norm: 0.0,
        iterations: 0,
        passes: 0,
        rounds: 0,
        status: Status::Converged,
        elapsed: Elapsed::default(),
        choice: None,
        history: Vec::new(),
        duals: None,
        fixed_moments_leave_one_out_bound: None,
    };
    let fit = |&lambda: &Lambda| Fit {
        lambda,
        intercept: sign * Scheme::CERTAIN,
        coef: vec![0.0; coefs],
        report: report.clone(),
    };
    lambdas.iter().map(fit).collect()
}

/// Returns a sentence on the classes that a model never decides, because no row of theirs has a weight.
pub(crate) fn of_absent_classes(model: &Model) -> Option<String> {
    let (classes, members) = (model.classes(), model.members());
    let is_certain = |member: usize, sign: f64| members[member].intercept == sign * Scheme::CERTAIN;
    let mut is_absent = vec![false; classes.len()];
    match model.scheme() {
        Scheme::Binary => is_absent = [1.0, -1.0].map(|sign| is_certain(0, sign)).to_vec(),
        Scheme::OneVersusOne => {
            for (member, (i, j)) in Scheme::pairs(classes.len()).enumerate() {
                is_absent[i] |= is_certain(member, 1.0);
                is_absent[j] |= is_certain(member, -1.0);
            }
        }
        Scheme::OneVersusRest | Scheme::Joint | Scheme::Multinomial | Scheme::CrammerSinger => {
            is_absent = (0..classes.len()).map(|class| is_certain(class, -1.0)).collect();
        }
        _ => {}
    }
    let named = classes.iter().zip(is_absent);
    let absent: Vec<String> =
        named.filter(|(_, is_absent)| *is_absent).map(|(class, _)| class.clone()).collect();
    match absent.len() {
        0 => None,
        1 => Some(format!(
            "Class '{}' has no row of positive weight: it is never predicted.",
            absent[0]
        )),
        some => Some(format!(
            "{some} classes have no row of positive weight and are never predicted: {}.",
            Listed(&absent)
        )),
    }
}

#[cfg(test)]
mod tests {
    use margins_data::{Dataset, Design, Labels};

    use super::decided_sign;

    #[test]
    fn a_class_without_weight_is_not_decided() {
        let design = Design::from_rows(&[[1.0], [2.0], [3.0]]).unwrap();
        let labels = Labels::from_signs(vec![1.0, -1.0, -1.0]).unwrap();
        let data = Dataset::new(design, labels).unwrap();
        assert_eq!(decided_sign(&data, None), None);
        assert_eq!(decided_sign(&data, Some(&[1, 2])), Some(-1.0));
        assert_eq!(decided_sign(&data, Some(&[0])), Some(1.0));
        let weighted = |weights: [f64; 3]| data.clone().with_weights(weights.to_vec()).unwrap();
        assert_eq!(decided_sign(&weighted([0.0, 1.0, 0.0]), None), Some(-1.0));
        assert_eq!(decided_sign(&weighted([2.0, 0.0, 0.0]), None), Some(1.0));
        let half = weighted([2.0, 1.0, 0.0]);
        assert_eq!(decided_sign(&half, None), None);
        assert_eq!(decided_sign(&half, Some(&[0, 2])), Some(1.0));
        assert_eq!(decided_sign(&half, Some(&[2])), Some(-1.0));
    }
}
