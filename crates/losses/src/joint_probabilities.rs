//! Probabilities of several classes, from the scores of one problem for all of them.

use crate::MarginLoss;

/// Writes the probabilities `p` whose conditional risk `sum_a p_a sum_(c != a) L(s_a - s_c)` the scores
/// of a sample minimise: the stationary distribution of the Markov chain that goes from class a to class c
/// at the rate `-L'(s_a - s_c)`, for which the derivative in `s_a` is zero,
/// `p_a sum_c L'(s_a - s_c) = sum_c p_c L'(s_c - s_a)`. A negative rate counts as 0.
///
/// For two classes it is the probability of the loss, for the logistic loss the [softmax] of the scores. For
/// a convex loss that falls up to the margin 0 it is unique, and a class of a larger score has no smaller
/// probability. States are eliminated without subtractions (Grassmann, Taksar and Heyman, *Regenerative
/// analysis and steady state distributions for Markov chains*, Oper. Res. 33, 1985), those of the smallest
/// scores first, which are left at a rate above 0. Where rates leave the range of numbers, the class of the
/// largest score has the probability 1.
///
/// # Panics
/// If there are not as many scores as probabilities, or none.
///
/// ```
/// use margins_losses::{Logistic, joint_probabilities};
///
/// let scores = [0.6f64, 0.3, 0.1].map(f64::ln);
/// let mut p = [0.0; 3];
/// joint_probabilities(&Logistic, &scores, &mut p);
/// assert!((p[0] - 0.6).abs() < 1e-15 && (p[1] - 0.3).abs() < 1e-15);
/// ```
pub fn joint_probabilities<L: MarginLoss + ?Sized>(loss: &L, scores: &[f64], out: &mut [f64]) {
    let k = scores.len();
    assert_eq!(k, out.len(), "one score a class");
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let rate =
        |a: usize, c: usize| (-loss.derivative(scores[order[a]] - scores[order[c]])).max(0.0);
    let mut rates: Vec<Vec<f64>> = (0..k).map(|a| (0..k).map(|c| rate(a, c)).collect()).collect();
    for last in (1..k).rev() {
        let (others, from_last) = rates.split_at_mut(last);
        let from_last = &from_last[0];
        let total: f64 = from_last[..last].iter().sum();
        for from in others {
            from[last] /= total;
            let into = from[last];
            // A rate beyond the range of numbers goes to a state that is left at once.
            if into == 0.0 {
                continue;
            }
            from[..last]
                .iter_mut()
                .zip(from_last)
                .for_each(|(rate, onward)| *rate += into * onward);
        }
    }
    let mut p = vec![1.0; k];
    for last in 1..k {
        p[last] = (0..last).map(|a| p[a] * rates[a][last]).sum();
    }
    let total: f64 = p.iter().sum();
    for (at, &class) in order.iter().enumerate() {
        let decided = if at == 0 { 1.0 } else { 0.0 };
        out[class] = if total.is_finite() { p[at] / total } else { decided };
    }
}

/// Writes the probabilities proportional to the exponentials of scores, those of the multinomial logistic
/// loss.
///
/// # Panics
/// If there are not as many scores as probabilities.
///
/// ```
/// use margins_losses::softmax;
///
/// let mut p = [0.0; 3];
/// softmax(&[1000.0, 1000.0, -1000.0], &mut p);
/// assert_eq!(p, [0.5, 0.5, 0.0]);
/// ```
pub fn softmax(scores: &[f64], out: &mut [f64]) {
    assert_eq!(scores.len(), out.len(), "one score a class");
    let largest = scores.iter().fold(f64::NEG_INFINITY, |largest, s| largest.max(*s));
    out.iter_mut().zip(scores).for_each(|(p, s)| *p = (s - largest).exp());
    let total: f64 = out.iter().sum();
    out.iter_mut().for_each(|p| *p /= total);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::LossRegistry;

    proptest! {
        /// The conditional risk of the probabilities has no slope at the scores, and larger scores have
        /// larger probabilities.
        #[test]
        fn scores_minimise_the_conditional_risk(
            scores in proptest::collection::vec(-3.0..3.0f64, 2..6),
        ) {
            let losses = LossRegistry::standard();
            for name in ["logistic", "exponential", "lhs", "l-r:r=2", "dwd:q=1", "hinge"] {
                let loss = losses.parse(name).expect("a loss");
                let mut p = vec![0.0; scores.len()];
                joint_probabilities(&*loss, &scores, &mut p);
                prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-14);
                for a in 0..p.len() {
                    let others = (0..p.len()).filter(|&c| c != a);
                    let (out, into) = others.fold((0.0, 0.0), |(out, into), c| {
                        let slope = |a: usize, c: usize| p[a] * loss.derivative(scores[a] - scores[c]);
                        (out + slope(a, c), into + slope(c, a))
                    });
                    prop_assert!((out - into).abs() <= 1e-13 * (1.0 + out.abs()), "{} {:?}", name, p);
                    for c in 0..p.len() {
                        let is_above = scores[a] > scores[c];
                        prop_assert!(!is_above || p[a] >= p[c] * (1.0 - 1e-12), "{} {:?}", name, p);
                    }
                }
                if name == "logistic" {
                    let mut q = vec![0.0; scores.len()];
                    softmax(&scores, &mut q);
                    prop_assert!(p.iter().zip(&q).all(|(p, q)| (p - q).abs() < 1e-13));
                }
                if let ([a, b], Some(binary)) = (&scores[..], loss.probability(scores[1] - scores[0])) {
                    prop_assert!((p[1] - binary).abs() < 1e-12, "{} {} {}: {} {}", name, a, b, p[1], binary);
                }
            }
        }
    }

    #[test]
    fn scores_far_apart_decide() {
        let loss = LossRegistry::standard().parse("exponential").expect("a loss");
        let mut p = [0.0; 3];
        joint_probabilities(&*loss, &[0.0, 2000.0, -5.0], &mut p);
        assert_eq!(p, [0.0, 1.0, 0.0]);
    }
}
