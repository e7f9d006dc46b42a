//! Values out of dictionaries of Python.

use margins::data::Listed;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Refuses settings of other names.
pub(crate) fn check_names(given: &Bound<'_, PyDict>, names: &[&str]) -> PyResult<()> {
    for name in given.keys() {
        let name: String = name.extract()?;
        if !names.contains(&name.as_str()) {
            let known = Listed(names);
            return Err(PyTypeError::new_err(format!(
                "there is no setting '{name}': known are {known}"
            )));
        }
    }
    Ok(())
}

/// Returns the value of a setting.
pub(crate) fn read<'py, T: FromPyObjectOwned<'py>>(
    given: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<T> {
    let Some(value) = given.get_item(name)? else {
        return Err(PyTypeError::new_err(format!("the setting '{name}' is missing")));
    };
    value.extract::<T>().map_err(|error| {
        let error: PyErr = error.into();
        let shown = value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        let text = format!("{name} is {shown}: {}", error.value(given.py()));
        if error.is_instance_of::<PyTypeError>(given.py()) {
            PyTypeError::new_err(text)
        } else {
            PyValueError::new_err(text)
        }
    })
}
