//! The costs of errors by class.

use margins_data::{ClassIndex, ClassLabels, Dataset};

use crate::Error;

/// The costs of an error on a sample of each class, by the names of classes; 1 for a class that is
/// not named. A class of cost 0 stays a class, and is never predicted.
///
/// ```
/// use margins_data::{Dataset, Design, Labels};
/// use margins_estimators::regularised::ClassCosts;
///
/// let data = Dataset::new(Design::from_rows(&[[1.0], [2.0]])?, Labels::new(&["no", "yes"])?)?;
/// let costs = ClassCosts::new(vec![("yes".to_owned(), 5.0)])?;
/// assert_eq!(costs.weigh(data)?.weights(), Some(&[1.0, 5.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClassCosts(Vec<(String, f64)>);

impl ClassCosts {
    /// Returns the class that was named first, with its cost.
    pub(crate) fn first(&self) -> Option<&(String, f64)> {
        self.0.first()
    }

    /// Returns the costs, checked.
    ///
    /// # Errors
    /// [`Error::Setting`]: a cost that is not finite or below 0.
    /// [`Error::Contradiction`]: two costs of one class.
    pub fn new(costs: Vec<(String, f64)>) -> Result<Self, Error> {
        let bad = |(_, cost): &&(String, f64)| !(cost.is_finite() && *cost >= 0.0);
        if let Some((class, cost)) = costs.iter().find(bad) {
            let requirement = format!("a finite number of at least 0, for class '{class}'");
            return Err(Error::setting("a class cost", cost, requirement));
        }
        let names: Vec<&str> = costs.iter().map(|(class, _)| class.as_str()).collect();
        match ClassIndex::new(&names) {
            Ok(_) => Ok(ClassCosts(costs)),
            Err(margins_data::Error::DuplicateClass { first, second, .. }) => {
                let cost = |k: usize| format!("a cost {} of class '{}'", costs[k].1, costs[k].0);
                let (one, other) = (cost(first), cost(second));
                Err(Error::contradiction(one, other, "a class has one cost"))
            }
            Err(other) => Err(other.into()),
        }
    }

    /// Returns the data with the weight of every sample, 1 if it has none, multiplied by the cost
    /// of its class.
    ///
    /// # Errors
    /// [`Error::UnknownClass`]: the data do not have a class that is named. Weights that overflow.
    pub fn weigh<Y: ClassLabels>(&self, data: Dataset<Y>) -> Result<Dataset<Y>, Error> {
        if self.0.is_empty() {
            return Ok(data);
        }
        let labels = data.labels();
        let factors = self.of(labels.names())?;
        let costs: Vec<f64> = (0..data.rows()).map(|row| factors[labels.index(row)]).collect();
        Ok(data.with_costs(&costs)?)
    }

    /// Returns the cost of every class, 1 of those that are not named.
    ///
    /// # Errors
    /// [`Error::UnknownClass`]: a class that is named is not among them.
    pub(super) fn of(&self, classes: &[String]) -> Result<Vec<f64>, Error> {
        let index = ClassIndex::new(classes)?;
        let mut costs = vec![1.0; classes.len()];
        for (class, cost) in &self.0 {
            let Some(k) = index.get(class) else {
                let (class, classes) = (class.clone(), classes.to_vec());
                return Err(Error::UnknownClass { class, row: None, classes });
            };
            costs[k] = *cost;
        }
        Ok(costs)
    }
}
