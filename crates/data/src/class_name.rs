//! When names of classes are equal, and in which order they come.

use std::cmp::Ordering;

use crate::Error;
use crate::exact_decimal::ExactDecimal;

/// Returns true if two names of classes are equal as texts or as decimal numbers, whose digits all
/// count: `1`, `+1` and `1.0` are one class, 9007199254740992 and 9007199254740993 are two.
pub fn same_class(a: &str, b: &str) -> bool {
    a == b || ExactDecimal::parse(a).is_some_and(|a| Some(a) == ExactDecimal::parse(b))
}

pub(crate) fn check_distinct(negative: &str, positive: &str) -> Result<(), Error> {
    if same_class(negative, positive) {
        let requirement = format!("another than the positive class '{positive}'");
        return Err(Error::parameter("the negative class", format!("'{negative}'"), requirement));
    }
    Ok(())
}

/// Returns the order of names, as indices: numeric if all of them are numbers, else alphabetical.
/// (Comparing numbers numerically and all other pairs alphabetically would not be an order:
/// 2 < 10, "10" < "1a" and "1a" < "2".)
pub(crate) fn sorted_order<S: AsRef<str>>(values: &[S]) -> Vec<usize> {
    let numbers: Option<Vec<ExactDecimal>> =
        values.iter().map(|value| ExactDecimal::parse(value.as_ref())).collect();
    let compare = |&i: &usize, &j: &usize| -> Ordering {
        let by_text = || values[i].as_ref().cmp(values[j].as_ref());
        match &numbers {
            Some(numbers) => numbers[i].cmp(&numbers[j]).then_with(by_text),
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
