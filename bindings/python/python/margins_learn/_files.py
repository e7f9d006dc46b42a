"""Classifiers of files."""

from __future__ import annotations

from os import PathLike

from ._base import adopted
from ._native import Model
from ._regularised import MarginClassifier
from ._settings import number_of


def load(path: str | PathLike[str], C: float | None = None) -> MarginClassifier:
    """Reads the classifier of a file that `save` or the command has written.

    The estimator has the loss, the kernel and C of the file for parameters; all other parameters have their defaults.
    Classes have the type that they had before `save`. A file of the command names its classes without a type: they are
    whole numbers if all names are, numbers if all names are numbers, and else text.

    Parameters
    ----------
    path : str or path
        The file.
    C : float or None, default=None
        C of the classifier, for a file of `MarginPath.save` or of `margins path`. It is `1/(2 n lambda)` at one of the
        lambdas that were fitted, to six digits.

    Returns
    -------
    classifier : MarginClassifier
        The classifier, ready to predict.

    Examples
    --------
    >>> import tempfile
    >>> from margins_learn import MarginClassifier, load
    >>> classifier = MarginClassifier("hinge").fit([[0.0], [1.0], [2.0], [3.0]], ["ham", "ham", "spam", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     classifier.save(folder + "/model.json")
    ...     load(folder + "/model.json").predict([[3.0]]).tolist()
    ['spam']
    """
    model = Model.load(path, None if C is None else number_of(C, "C"))
    kernel = None if model.basis is None else model.basis["kernel"]
    try:
        estimator = adopted(MarginClassifier(loss=model.loss, kernel=kernel), model)
    except ValueError as error:
        raise ValueError(f"{path}: the classes {model.classes} are not of the type {model.label_type!r} that the file names.") from error
    first = model.training[0]
    if first["lambda"] is not None:
        estimator._keep(lambda_=first["lambda"])
        # The last digit is rounding: C has been lambda in between.
        penalty = 2 * first["rows"] * first["lambda"]
        estimator.C = float(f"{1 / penalty:.15g}") if penalty > 0 else float("inf")
    return estimator
