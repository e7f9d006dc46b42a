//! When names of classes are equal, and in which order they come.

use std::cmp::Ordering;

use crate::Error;

/// Returns the finite number that the name of a class spells, if it does.
pub(crate) fn number(value: &str) -> Option<f64> {
    value.trim().parse().ok().filter(|x: &f64| x.is_finite())
}

/// Returns true if two names of classes are equal as texts or as numbers.
pub fn same_class(a: &str, b: &str) -> bool {
    a == b || matches!((number(a), number(b)), (Some(a), Some(b)) if a == b)
}

/// Refuses two names of one class.
pub(crate) fn check_distinct(negative: &str, positive: &str) -> Result<(), Error> {
    if same_class(negative, positive) {
        let requirement = format!("another than the positive class '{positive}'");
        return Err(Error::parameter("the negative class", format!("'{negative}'"), requirement));
    }
    Ok(())
}

/// Returns the order of names, as indices: numeric if all of them are numbers, else alphabetical.
/// (By pairs the two orders together are none: 2 < 10, "10" < "1a" and "1a" < "2".)
pub(crate) fn sorted_order<S: AsRef<str>>(values: &[S]) -> Vec<usize> {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| number(value.as_ref())).collect();
    let compare = |&i: &usize, &j: &usize| -> Ordering {
        let by_text = || values[i].as_ref().cmp(values[j].as_ref());
        match &numbers {
            Some(numbers) => numbers[i].total_cmp(&numbers[j]).then_with(by_text),
            None => by_text(),
        }
    };
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(compare);
    order
}

/// Returns the place of every item in an order.
pub(crate) fn ranks(order: &[usize]) -> Vec<u32> {
    let mut ranks = vec![0; order.len()];
    (0..).zip(order).for_each(|(rank, &item)| ranks[item] = rank);
    ranks
}
