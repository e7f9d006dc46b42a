"""The base classes of the estimators: settings and samples for the native module, and models that predict."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if as _available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from . import _native
from ._inputs import blocks, checked, samples_of
from ._labels import classes_named, label_type_of, names_of, targets_of, weights_of
from ._progress import SupportsCallbacks
from ._settings import seed_of
from ._tables import checked_table, columns_of
from ._values import array_of, refuse_gaps



Method = TypeVar("Method", bound=Callable[..., Any])

CERTAIN = 1e30
"""The size of the scores of members that decide one class for every sample, in the library."""


def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Makes a method available where a check allows it, with the type that it has."""
    return _available_if(check)


def _has_probabilities(estimator: Any) -> bool:
    """Returns whether a classifier has probabilities, or will have them once it is fitted."""
    if hasattr(estimator, "model_"):
        available = estimator.model_.has_probabilities
    else:
        available = estimator._will_have_probabilities()
    if not available:
        loss = getattr(estimator, "loss", None)
        raise AttributeError(
            f"The loss {loss!r} has no probabilities: MarginClassifier(probability='platt') scales scores instead."
        )
    return True


class Fitting(SupportsCallbacks, BaseEstimator):
    """An estimator with the settings that the native module lists for its name."""

    n_features_in_: int
    feature_names_in_: np.ndarray

    def _settings(self, **changed: Any) -> dict[str, Any]:
        """Returns the settings for the native module, some of them changed."""
        settings = {name: getattr(self, name) for name in _native.SETTINGS[self._listed()] if name not in changed}
        if "random_state" in settings:
            settings["random_state"] = seed_of(self.random_state)
        if "n_jobs" in settings:
            settings["n_jobs"] = effective_n_jobs(self.n_jobs)
        return settings | changed

    def _listed(self) -> str:
        """Returns the name under which the native module lists the settings."""
        own = (kind.__name__ for kind in type(self).__mro__)
        return next(name for name in own if name in _native.SETTINGS)

    def _data(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        """Returns the samples for the native module, and sets what is known of them."""
        X = self._checked(X)
        classes, targets = targets_of(y)
        check_consistent_length(_Rows(X), targets)
        weights = weights_of(sample_weight, _Rows(X))
        self._accept_classes(classes)
        self.classes_ = classes
        return {
            "samples": self._samples(X),
            "targets": targets,
            "classes": names_of(classes),
            "names": self._feature_names(),
            "weights": weights,
        }

    def _accept_classes(self, classes: np.ndarray) -> None:
        """Raises `ValueError` for classes that the estimator does not support; this one supports any number."""

    def _checked(self, X: Any) -> Any:
        """Returns the samples of a fit, whose rows can be cut, and learns their features."""
        return checked(self, X, reset=True)

    def _samples(self, X: Any) -> Any:
        """Returns checked samples for the native module."""
        return samples_of(self._functions(X))

    def _feature_names(self) -> list[str] | None:
        """Returns the names of the features, if the library sees features with names."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None or self._is_precomputed() else list(names)

    def _functions(self, X: Any) -> Any:
        """Returns the samples as the library takes them: unchanged, unless the kernel is a Python function."""
        return X

    def _is_precomputed(self) -> bool:
        """Returns true if the library is given a kernel matrix instead of features."""
        return False

    def _keep(self, **attributes: Any) -> None:
        """Sets attributes of a fit, and removes the attributes whose value is None, which an earlier fit may have set."""
        for name, value in attributes.items():
            if value is None:
                self.__dict__.pop(name, None)
            else:
                self.__dict__[name] = value

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _READ_ONLY:
            raise AttributeError(f"{name} is read-only: fit sets it.")
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        """Returns the state with objects of the native module as bytes, which every format of files holds."""
        state = super().__getstate__()
        return {name: value.to_bytes() if isinstance(value, _NATIVE.get(name, ())) else value for name, value in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(
            {name: _NATIVE[name].from_bytes(value) if isinstance(value, bytes) and name in _NATIVE else value for name, value in state.items()}
        )

    def _adopt_exact(self, exact: dict[str, Any]) -> None:
        """Sets the evidence for the exact kernel, and removes the evidence of an earlier fit."""
        before = dict.fromkeys(name for name in self.__dict__ if name.startswith("exact_"))
        self._keep(**before | {f"exact_{name}_": values for name, values in exact.items()})

    def _class_costs(self, classes: np.ndarray) -> Any:
        """Returns the class weights with each key replaced by the name of the class equal to it."""
        if self.class_weight is None or isinstance(self.class_weight, str):
            return self.class_weight
        if not isinstance(self.class_weight, dict):
            raise TypeError(f"class_weight is {self.class_weight!r}, but must be None, 'balanced' or a dict of costs.")
        names = dict(zip(classes.tolist(), names_of(classes), strict=True))
        unknown = next((label for label in self.class_weight if label not in names), None)
        if unknown is not None:
            raise ValueError(f"class_weight has a cost of {unknown!r}, but there is no class {unknown!r}: the classes are {list(names)}.")
        return [(names[label], float(cost)) for label, cost in self.class_weight.items()]


class _Rows:
    """A number of rows, for checks of scikit-learn that ask for no more."""

    def __init__(self, X: Any) -> None:
        self.shape = (X.shape[0],)


# The evidence of a fit at one C; a path has an array of each.
EVIDENCE = ("objective", "lower_bound", "dual_gap", "relative_gap", "relative_rounding")
# The attributes that a fit gives and no prediction depends on.
_READ_ONLY = frozenset(
    [
        *(f"{exact}{name}{s}_" for exact in ("", "exact_") for name in EVIDENCE for s in ("", "s")),
        *("coef_", "dual_coef_", "intercept_", "thresholds_", "encoded_names_", "kernel_", "learner_", "lambda_", "auto_scale_", "fixed_moments_leave_one_out_bound_", "leave_one_out_bounds_", "margin_location_", "gradient_norm_", "status_", "n_iter_", "n_rounds_", "t_"),
        *("best_C_", "best_lambda_", "best_kernel_", "best_loss_", "path_", "paths_", "losses_", "errors_", "folds_"),
        *("Cs_", "lambdas_", "coefs_", "duals_", "constrained_forms_", "intercepts_", "margin_locations_", "statuses_"),
        *("error_bound_", "held_out_error_", "training_error_", "eta_", "gamma_", "distance_", "dimensions_"),
        *("max_loss_", "mean_loss_", "seen_loss_", "loss_bound_", "theorem_", "validation_"),
        *("best_intercepts_", "constrained_form_"),
        *("finished_", "consistent_at_", "slack_", "outliers_"),
        *("members_", "target_range_", "max_error_", "norm_"),
    ]
)
# The attributes that follow from a model.
_COEFFICIENTS = ("coef_", "dual_coef_", "intercept_", "thresholds_")
# The attributes that are objects of the native module.
_NATIVE: dict[str, Any] = {"model_": _native.Model, "_models": _native.ModelPath, "ensemble_": _native.Ensemble, "_state": _native.StreamState, "_stream": _native.HalfspaceState}


class ModelClassifier(ClassifierMixin, Fitting):
    """A classifier that predicts with a model of the library."""

    model_: Any
    classes_: np.ndarray
    coef_: np.ndarray
    dual_coef_: np.ndarray
    intercept_: np.ndarray
    thresholds_: np.ndarray
    objective_: float | np.ndarray
    lower_bound_: float | np.ndarray
    dual_gap_: float | np.ndarray
    relative_gap_: float | np.ndarray
    relative_rounding_: float | np.ndarray
    gradient_norm_: float | np.ndarray
    leave_one_out_bounds_: tuple[float, float]
    margin_location_: dict[str, Any] | list[dict[str, Any]]
    best_intercepts_: np.ndarray
    duals_: np.ndarray
    constrained_form_: dict[str, Any] | list[dict[str, Any] | None]
    status_: str
    n_iter_: int

    def _will_have_probabilities(self) -> bool:
        """Returns whether a fit with these settings has probabilities."""
        if getattr(self, "probability", "loss") != "loss":
            return True
        try:
            losses = [self.loss] if isinstance(self.loss, str) else self.loss
            return not any(np.isnan(_native.probability(loss, np.zeros(1)))[0] for loss in losses)
        except (TypeError, ValueError):
            # The fit says what is wrong with the loss.
            return True

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Returns the share of samples that are predicted correctly.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        y : array of shape (n_samples,)
            Their classes, each of which has a value.
        sample_weight : array of shape (n_samples,) or None, default=None
            Their weights, 1 for None.

        Returns
        -------
        score : float
            The accuracy.
        """
        labels = column_or_1d(array_of(y), warn=True)
        refuse_gaps(labels, "y")
        return super().score(X, labels, sample_weight)

    def _adopt(self, model: _native.Model) -> None:
        """Takes a model, with the attributes that follow from it."""
        self._forget_model()
        self.model_ = model
        if model.votes:
            # A vote has no coefficients.
            return
        if model.basis is None and not self._is_precomputed():
            self._keep(coef_=model.coef)
        else:
            self._keep(dual_coef_=model.coef, coef_=model.linear_coef)
        self._keep(intercept_=model.intercept, thresholds_=model.thresholds)
        self._lock_coefficients()

    def _lock_coefficients(self) -> None:
        """Makes the arrays of the coefficients read-only: a change of them would have no effect on the model."""
        for name in _COEFFICIENTS:
            if name in self.__dict__:
                self.__dict__[name].flags.writeable = False

    def _forget_model(self) -> None:
        """Forgets the model of a fit before."""
        self._keep(**dict.fromkeys(("model_", *_COEFFICIENTS)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._lock_coefficients()

    def _adopt_report(self, report: dict[str, Any]) -> None:
        """Takes the evidence of a fit: a number for one problem, an array with one entry per binary problem for several."""
        problems = len(report["iterations"])
        number = (lambda values: float(values[0])) if problems == 1 else np.asarray
        certified = report.get("certifiable", True)
        self._keep(**{f"{name}_": number(report[name]) if certified or name == "objective" else None for name in EVIDENCE})
        self._keep(gradient_norm_=None if certified else number(report["gradient_norm"]))
        self._keep(leave_one_out_bounds_=report.get("leave_one_out_bounds"))
        locations = report.get("margin_locations")
        self._keep(margin_location_=locations[0] if locations and len(locations) == 1 else locations or None)
        self._adopt_exact({name: number(values[0]) for name, values in report.get("exact", {}).items()})
        # The worst status: a fit that is neither certified nor ended by its rule comes first.
        status = min(report["status"], key=lambda status: {"rule-met": 1, "converged": 2}.get(status, 0))
        self._keep(n_iter_=max(1, *report["iterations"]), status_=status, best_intercepts_=report.get("best_intercepts"))
        for name, key in (("duals_", "duals"), ("constrained_form_", "constrained")):
            found = report.get(key)
            self._keep(**{name: found[0] if found is not None and problems == 1 else found})

    def _scores(self, X: Any, result: Callable[[np.ndarray], np.ndarray] = np.asarray) -> np.ndarray:
        """Applies `result` to the scores of every sample, one per member or one of a majority, for some rows at a time."""
        threads = effective_n_jobs(getattr(self, "n_jobs", None))
        encoding = self.model_.encoding
        if encoding is not None:
            names = getattr(self, "feature_names_in_", None)
            columns = columns_of(checked_table(self, X, reset=False), names, encoding["options"]["drop"])
            return result(self.model_.scores(self.model_.encode(columns), threads))
        X = self._functions(checked(self, X, reset=False))
        parts = blocks(X, len(self.model_.intercept))
        return np.concatenate([result(self.model_.scores(samples_of(part), threads)) for part in parts])

    def decision_function(self, X: Any) -> np.ndarray:
        """Returns the score of every sample, whose sign decides between two classes.

        For more than two classes there is a column for each class, and the largest entry decides. One-versus-one counts
        the pairs that a class wins, and breaks ties by the sum of its scores.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            The scores.
        """
        check_is_fitted(self, "model_")
        if self.model_.scheme in ("binary", "majority", "decision-list"):
            return self._scores(X)[:, 0]
        if self.model_.scheme != "one-versus-one":
            return self._scores(X)
        return self._scores(X, lambda scores: _standing(scores, len(self.classes_)))

    def predict(self, X: Any) -> np.ndarray:
        """Returns the class of every sample.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        classes : array of shape (n_samples,)
            The classes.
        """
        check_is_fitted(self, "model_")
        return self.classes_[self._scores(X, self.model_.decide)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Returns the probability of every class for every sample.

        The class that `predict` returns is the most probable one, whatever the scheme and the source of the
        probabilities.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            The probabilities.
        """
        check_is_fitted(self, "model_")
        return self._scores(X, self.model_.probabilities)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Returns the logarithms of what `predict_proba` returns.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        logarithms : array of shape (n_samples, n_classes)
            The logarithms.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the classifier to a file that `margins_learn.load` and the command read.

        Parameters
        ----------
        path : path
            The file, which is JSON if its name ends in `.json`, and else binary.
        """
        check_is_fitted(self, "model_")
        if self._is_precomputed():
            raise ValueError("A model file cannot store a classifier with a precomputed kernel or a kernel function: pickle the estimator instead.")
        self.model_.save(path, label_type_of(self.classes_))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def adopted(estimator: ModelClassifier, model: _native.Model) -> ModelClassifier:
    """Returns the estimator with the fitted attributes that the model of a file determines."""
    estimator.classes_ = classes_named(model.classes, model.label_type)
    encoding = model.encoding
    names = model.feature_names if encoding is None else encoding["columns"]
    estimator.n_features_in_ = model.columns if names is None else len(names)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if encoding is not None:
        if "encode" in estimator._get_param_names():
            estimator.encode = encoding["options"]
        estimator._keep(encoded_names_=np.array(model.feature_names, dtype=object))
    estimator._adopt(model)
    return estimator


def _standing(scores: np.ndarray, classes: int) -> np.ndarray:
    """Returns the number of pairs that each class wins, plus a fraction below one half that breaks ties by the sum of scores.

    Members that are certain of a class, as the other one has no weight, do not count in the sum.
    """
    votes, sums = np.zeros((2, len(scores), classes))
    pairs = ((i, j) for i in range(classes) for j in range(i + 1, classes))
    for score, (i, j) in zip(scores.T, pairs):
        wins = score > 0
        votes[:, j] += wins
        votes[:, i] += ~wins
        score = np.where(np.abs(score) < CERTAIN, score, 0.0)
        sums[:, j] += score
        sums[:, i] -= score
    return votes + sums / (3 * (np.abs(sums) + 1))
