//! Reads values from Python dictionaries.

use margins::data::Listed;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The values of a dictionary that have not been taken, and the names of all that were asked for.
pub(crate) struct Given<'py> {
    left: Bound<'py, PyDict>,
    names: Vec<&'static str>,
}

impl<'py> Given<'py> {
    /// Returns the values of a dictionary, which stays as it is.
    pub(crate) fn new(dictionary: &Bound<'py, PyDict>) -> PyResult<Self> {
        Ok(Given { left: dictionary.copy()?, names: Vec::new() })
    }

    /// Takes a value that must be there.
    pub(crate) fn take<T: FromPyObjectOwned<'py>>(&mut self, name: &'static str) -> PyResult<T> {
        let missing = || PyTypeError::new_err(format!("the setting '{name}' is missing"));
        self.taken(name)?.ok_or_else(missing)
    }

    /// Takes a value, or returns another one if it is not there.
    pub(crate) fn take_or<T: FromPyObjectOwned<'py>>(
        &mut self,
        name: &'static str,
        absent: T,
    ) -> PyResult<T> {
        Ok(self.taken(name)?.unwrap_or(absent))
    }

    fn taken<T: FromPyObjectOwned<'py>>(&mut self, name: &'static str) -> PyResult<Option<T>> {
        self.names.push(name);
        let Some(value) = self.left.get_item(name)? else { return Ok(None) };
        self.left.del_item(name)?;
        value.extract::<T>().map(Some).map_err(|error| {
            let py = value.py();
            let error: PyErr = error.into();
            let shown = value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
            let text = format!("{name} is {shown}: {}", error.value(py));
            if error.is_instance_of::<PyTypeError>(py) {
                PyTypeError::new_err(text)
            } else {
                PyValueError::new_err(text)
            }
        })
    }

    /// Refuses a dictionary with values that were not asked for.
    pub(crate) fn finish(self) -> PyResult<()> {
        let Some(name) = self.left.keys().iter().next() else { return Ok(()) };
        let known = Listed(&self.names);
        Err(PyTypeError::new_err(format!("there is no setting '{name}': known are {known}")))
    }
}
