//! Whether the rows of a stream come in random order, as far as their classes show it.

use margins_data::ClassLabels;

/// The order in which the classes come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassOrder {
    /// The rows of each class.
    rows: Vec<u64>,
    changes: u64,
    last: Option<usize>,
}

impl ClassOrder {
    /// Takes the labels of the next rows.
    pub(super) fn take(&mut self, labels: &impl ClassLabels) {
        self.rows.resize(labels.names().len(), 0);
        for class in (0..labels.len()).map(|row| labels.index(row)) {
            self.rows[class] += 1;
            self.changes += u64::from(self.last.is_some_and(|last| last != class));
            self.last = Some(class);
        }
    }

    /// Returns how often a row has another class than the row before it.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the number of [`changes`](Self::changes) to expect of n rows in random order, of which
    /// class k has `n_k`: `sum_k n_k (n - n_k)/n`.
    pub fn expected_changes(&self) -> f64 {
        let all = self.rows.iter().sum::<u64>() as f64;
        let of_class = |&rows: &u64| rows as f64 * (all - rows as f64) / all.max(1.0);
        self.rows.iter().map(of_class).sum()
    }

    /// Returns true if the class changes less than a fifth as often as in random order: rows sorted
    /// by class, or long runs of one class.
    ///
    /// ```
    /// use margins_data::read::{Format, ReadOptions, Stream};
    /// use margins_estimators::stream::StreamSettings;
    /// use margins_optim::Lambda;
    ///
    /// let text = "x,label\n".to_owned() + &"1,a\n".repeat(20) + &"2,b\n".repeat(20);
    /// let options = ReadOptions::default();
    /// let mut stream = Stream::from_reader(text.as_bytes(), "x.csv", Format::Csv, &options, None)?;
    /// let order = StreamSettings::new(Lambda::new(0.01)?).fit_stream(&mut stream)?.class_order;
    /// assert_eq!((order.changes(), order.expected_changes()), (1, 20.0));
    /// assert!(order.is_sorted());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_sorted(&self) -> bool {
        5.0 * (self.changes as f64) < self.expected_changes()
    }
}

#[cfg(test)]
mod tests {
    use margins_data::Classes;

    use super::*;

    #[test]
    fn random_rows_and_rare_classes_are_not_sorted() {
        let of_classes = |classes: &[u32]| {
            let mut order = ClassOrder::default();
            let labels = |part: &[u32]| {
                let names = ["a", "b", "c"].map(str::to_owned).to_vec();
                Classes::from_indices(part.to_vec(), names).unwrap()
            };
            // The parts of a stream do not matter.
            classes.chunks(7).for_each(|part| order.take(&labels(part)));
            order
        };
        let order = |is_positive: &dyn Fn(u64) -> bool, rows: u64| {
            of_classes(&(0..rows).map(|k| u32::from(is_positive(k))).collect::<Vec<_>>())
        };
        let mixed = order(&|k| (k * k) % 7 < 3, 1000);
        assert!(!mixed.is_sorted(), "{mixed:?}");
        assert!(!order(&|k| k == 999, 1000).is_sorted());
        assert!(!order(&|_| true, 1000).is_sorted());
        assert!(!order(&|_| true, 0).is_sorted());
        let sorted = order(&|k| k >= 990, 1000);
        assert_eq!((sorted.changes(), sorted.expected_changes()), (1, 19.8));
        assert!(sorted.is_sorted());
        assert!(order(&|k| (k / 100) % 2 == 0, 1000).is_sorted());
        let turns: Vec<u32> = (0..90).map(|k| k % 3).collect();
        assert!(
            (of_classes(&turns).changes(), of_classes(&turns).expected_changes()) == (89, 60.0)
        );
        let runs: Vec<u32> = (0..90).map(|k| k / 30).collect();
        assert!(!of_classes(&turns).is_sorted() && of_classes(&runs).is_sorted());
    }
}
