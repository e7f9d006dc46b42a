//! Whether the rows of a stream come in random order, as far as their classes show it.

/// The order in which the two classes come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClassOrder {
    positives: u64,
    rows: u64,
    changes: u64,
    last: Option<bool>,
}

impl ClassOrder {
    /// Takes the signs of the next rows.
    pub(super) fn take(&mut self, signs: &[f64]) {
        for &sign in signs {
            let is_positive = sign > 0.0;
            self.rows += 1;
            self.positives += u64::from(is_positive);
            self.changes += u64::from(self.last.is_some_and(|last| last != is_positive));
            self.last = Some(is_positive);
        }
    }

    /// Returns how often a row has another class than the row before it.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the number of [`changes`](Self::changes) to expect of n rows in random order, of which
    /// m are positive: `2 m (n - m)/n`.
    pub fn expected_changes(&self) -> f64 {
        let (rows, positives) = (self.rows as f64, self.positives as f64);
        if self.rows == 0 { 0.0 } else { 2.0 * positives * (rows - positives) / rows }
    }

    /// Returns true if the class changes less than a fifth as often as in random order: rows sorted
    /// by class, or long runs of one class.
    ///
    /// ```
    /// use margins_data::read::{Format, ReadOptions, Stream};
    /// use margins_estimators::stream::Settings;
    /// use margins_optim::Lambda;
    ///
    /// let text = "x,label\n".to_owned() + &"1,a\n".repeat(20) + &"2,b\n".repeat(20);
    /// let options = ReadOptions::default();
    /// let mut stream = Stream::from_reader(text.as_bytes(), "x.csv", Format::Csv, &options, None)?;
    /// let order = Settings::new(Lambda::new(0.01)?).fit_stream(&mut stream)?.class_order;
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
    use super::*;

    #[test]
    fn random_rows_and_rare_classes_are_not_sorted() {
        let order = |sign: &dyn Fn(u64) -> bool, rows: u64| {
            let mut order = ClassOrder::default();
            let signs: Vec<f64> = (0..rows).map(|k| if sign(k) { 1.0 } else { -1.0 }).collect();
            // The parts of a stream do not matter.
            signs.chunks(7).for_each(|signs| order.take(signs));
            order
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
    }
}
