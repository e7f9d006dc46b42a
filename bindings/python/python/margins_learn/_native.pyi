"""The native module, which passes settings, arrays and errors to and from the library."""

from collections.abc import Callable
from os import PathLike
from typing import Any, Literal, Self, TypedDict, final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SETTINGS: dict[str, list[str]]
MOST_SIMULATED: int
__version__: str

class ColumnData(TypedDict):
    """A column of a raw table: numbers in which NaN is a missing value, or texts."""

    name: str
    cells: Array | list[str | None]

class FitData(TypedDict):
    """The samples with their classes."""

    samples: Samples | list[ColumnData]
    targets: NDArray[np.uint8] | NDArray[np.uint32]
    classes: list[str]
    names: list[str] | None
    weights: Array | None

class FitWatchers(TypedDict):
    """The functions that are called during a fit."""

    callback: Callable[[dict[str, Any]], Any] | None
    progress: Callable[[int, int], Any] | None

class BoundData(TypedDict):
    """The numbers that the bound on the risk of margin pursuit is a function of."""

    strong_convexity: float
    input_second_moment: float
    step: float
    iterations: int
    initial_distance: float
    diameter: float
    samples: int
    dimension: int
    scale: float
    delta: float
    gradient_constant: float
    operator_norm_moment: float
    approximation_error: float

# The settings of the estimators, by `cargo xtask settings`.

class MarginClassifierSettings(TypedDict):
    """The settings of MarginClassifier."""

    loss: str
    C: float
    kernel: str | None
    approximation: str | None
    memory: int | str | None
    certify_exact: bool
    keep_duals: bool
    encode: bool | dict[str, Any]
    fit_intercept: bool
    standardize: bool
    penalty_factors: list[float] | list[tuple[str, float]] | None
    class_weight: list[tuple[str, float]] | Literal["balanced"] | None
    multi_class: str
    probability: str
    solver: str
    tol: float
    max_iter: int | None
    time_limit: float | None
    random_state: int
    n_jobs: int

class MarginClassifierCVSettings(TypedDict):
    """The settings of MarginClassifierCV."""

    loss: str | list[str]
    Cs: list[float] | None
    lambdas: list[float] | None
    kernels: list[str] | None
    scales: list[float] | None
    sigmas: str | list[float] | None
    approximation: str | None
    memory: int | str | None
    certify_exact: bool
    keep_duals: bool
    cv: int | str | list[str] | tuple[list[str], int] | list[tuple[NDArray[np.int64], NDArray[np.int64]]] | None
    scoring: str
    selection: str
    abandon_hopeless: bool
    encode: bool | dict[str, Any]
    fit_intercept: bool
    standardize: bool
    penalty_factors: list[float] | list[tuple[str, float]] | None
    class_weight: list[tuple[str, float]] | Literal["balanced"] | None
    multi_class: str
    probability: str
    solver: str
    stop: str
    tol: float
    max_iter: int | None
    time_limit: float | None
    random_state: int
    n_jobs: int

class MarginPathSettings(TypedDict):
    """The settings of MarginPath."""

    loss: str
    Cs: list[float] | None
    lambdas: list[float] | None
    kernel: str | None
    approximation: str | None
    memory: int | str | None
    certify_exact: bool
    keep_duals: bool
    encode: bool | dict[str, Any]
    fit_intercept: bool
    standardize: bool
    penalty_factors: list[float] | list[tuple[str, float]] | None
    class_weight: list[tuple[str, float]] | Literal["balanced"] | None
    multi_class: str
    solver: str
    stop: str
    tol: float
    max_iter: int | None
    time_limit: float | None
    random_state: int
    n_jobs: int

class RobustClassifierSettings(TypedDict):
    """The settings of RobustClassifier."""

    objective: str
    loss: str
    C: float
    kernel: str | None
    approximation: str | None
    encode: bool | dict[str, Any]
    fit_intercept: bool
    standardize: bool
    class_weight: list[tuple[str, float]] | Literal["balanced"] | None
    multi_class: str
    tol: float
    max_iter: int | None
    time_limit: float | None
    random_state: int
    n_jobs: int

class StreamClassifierSettings(TypedDict):
    """The settings of StreamClassifier."""

    loss: str
    lam: float
    method: str
    schedule: str
    first_step: float | None
    fit_intercept: bool
    epochs: int | None
    replacement: bool
    batch: int
    average: str
    radius: float | None
    start_norm: float | None
    hold_out: float | None
    patience: int
    rescale_at: int | None
    rescale_steps: str
    balanced_rows: int | None
    standardize: bool
    class_weight: list[tuple[str, float]] | Literal["balanced"] | None
    tol: float | None
    time_limit: float | None
    random_state: int

class MassartClassifierSettings(TypedDict):
    """The settings of MassartClassifier."""

    learner: str
    eta: float | None
    gamma: float | None
    epsilon: float
    delta: float
    plan: str
    steps: int | None
    step: float | None
    held_out: int | None
    candidates: int | str | None
    project: int | None
    localization: str | None
    max_calls: int | None
    memory: int | str | None
    fit_intercept: bool
    standardize: bool
    scale_rows: str
    time_limit: float | None
    random_state: int
    n_jobs: int

class FocusedClassifierSettings(TypedDict):
    """The settings of FocusedClassifier."""

    learner: str
    kernel: str | None
    loss: str
    epsilon: float
    class_weight: list[tuple[str, float]] | Literal["balanced"] | None
    standardize: bool
    fit_intercept: bool
    multi_class: str
    max_steps: int | None
    outputs: int | None
    combine: str
    delta: float
    mistakes: float | None
    margin: float | None
    player: str
    slack: str
    subsample: str | None
    checkpoint: str | PathLike[str] | None
    pause_at: int | None
    time_limit: float | None
    random_state: int
    n_jobs: int

class FocusedRegressorSettings(TypedDict):
    """The settings of FocusedRegressor."""

    epsilon: float
    norm: float | None
    standardize: bool
    fit_intercept: bool
    max_steps: int | None
    outputs: int | None
    delta: float
    time_limit: float | None
    random_state: int

@final
class Samples:
    """Samples in the memory of the library."""

    @property
    def shape(self) -> tuple[int, int]: ...

@final
class DenseRows:
    """Dense samples that come in blocks of rows."""

    def __new__(cls, rows: int, columns: int) -> Self: ...
    def append(self, block: NDArray[Any]) -> None: ...
    def finish(self) -> Samples: ...

@final
class SparseRows:
    """Sparse samples whose entries come in any order."""

    def __new__(cls, counts: NDArray[np.int64], columns: int) -> Self: ...
    def place(self, rows: NDArray[np.int64], columns: NDArray[np.int32] | NDArray[np.int64], values: Array) -> None: ...
    def place_rows(self, first: int, counts: NDArray[np.int64], columns: NDArray[np.int32] | NDArray[np.int64], values: Array) -> None: ...
    def finish(self) -> Samples: ...

@final
class Model:
    """A classifier, as files keep it."""

    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    @staticmethod
    def load(path: str | PathLike[str], C: float | None = None) -> Model: ...
    def save(self, path: str | PathLike[str], label_type: str | None) -> None: ...
    def to_bytes(self) -> bytes: ...
    @property
    def label_type(self) -> str | None: ...
    @property
    def loss(self) -> str: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def votes(self) -> list[int]: ...
    @property
    def thresholds(self) -> Array | None: ...
    @property
    def scheme(self) -> str: ...
    @property
    def feature_names(self) -> list[str] | None: ...
    @property
    def encoding(self) -> dict[str, Any] | None: ...
    def encode(self, columns: list[ColumnData]) -> Samples: ...
    @property
    def columns(self) -> int: ...
    @property
    def intercept(self) -> Array: ...
    @property
    def coef(self) -> Array: ...
    @property
    def linear_coef(self) -> Array | None: ...
    @property
    def platt(self) -> list[tuple[float, float]] | None: ...
    @property
    def training(self) -> list[dict[str, Any]]: ...
    @property
    def basis(self) -> dict[str, Any] | None: ...
    @property
    def has_probabilities(self) -> bool: ...
    def scores(self, samples: Samples, threads: int) -> Array: ...
    def decide(self, scores: Array) -> NDArray[np.int64]: ...
    def probabilities(self, scores: Array) -> Array: ...

@final
class ModelPath:
    """The classifiers along a path of C, as files keep them."""

    @staticmethod
    def from_bytes(bytes: bytes) -> ModelPath: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: str | PathLike[str], label_type: str | None) -> None: ...
    def at(self, penalty: float) -> Model: ...

@final
class Ensemble:
    """The classifiers of a game, which decide together."""

    @staticmethod
    def from_bytes(bytes: bytes) -> Ensemble: ...
    def to_bytes(self) -> bytes: ...
    def __len__(self) -> int: ...
    def scores(self, samples: Samples, threads: int) -> Array: ...

@final
class Sampler:
    """The draws of focused online learning, for a learner of the caller."""

    def __new__(cls, rows: int, seed: int) -> Sampler: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Sampler: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> Sampler: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def draw(self, batch: int) -> NDArray[np.int64]: ...
    def observe(self, losses: Array) -> None: ...
    def probabilities(self) -> Array: ...
    def loss_bounds(self, delta: float) -> Array: ...
    @property
    def rows(self) -> int: ...
    @property
    def draws(self) -> int: ...

@final
class StreamState:
    """The state of stochastic gradient between two chunks."""

    @staticmethod
    def from_bytes(bytes: bytes) -> StreamState: ...
    def to_bytes(self) -> bytes: ...
    @property
    def rows(self) -> int: ...

@final
class StreamLearner:
    """Stochastic gradient on chunks of samples as they come."""

    def __new__(cls, settings: StreamClassifierSettings, classes: list[str], features: int) -> Self: ...
    @staticmethod
    def resumed(settings: StreamClassifierSettings, classes: list[str], features: int, state: StreamState) -> StreamLearner: ...
    def take(self, samples: Samples, targets: NDArray[np.uint32], weights: Array | None) -> None: ...
    def model(self, names: list[str] | None) -> Model: ...
    @property
    def steps(self) -> int: ...
    @property
    def too_long_step(self) -> float | None: ...
    def state(self) -> StreamState: ...

@final
class HalfspaceState:
    """The state of a halfspace between two chunks."""

    @staticmethod
    def from_bytes(bytes: bytes) -> HalfspaceState: ...
    def to_bytes(self) -> bytes: ...
    @property
    def rows(self) -> int: ...

@final
class BlockWriter:
    """A block file that is being written."""

    def __new__(cls, path: str | PathLike[str], rows: int | None, single: bool, names: list[str] | None) -> Self: ...
    def append(self, samples: Samples, labels: list[str], weights: list[float] | None, folds: list[str] | None) -> None: ...
    def finish(self) -> None: ...

@final
class Shard:
    """Partitions on a worker: they answer messages about their samples, and keep the kernel features computed from them."""

    def __new__(cls, loss: str) -> Self: ...
    def insert(
        self,
        partition: int,
        samples: Samples,
        targets: NDArray[np.uint32],
        weights: Array | None = None,
        folds: NDArray[np.uint32] | None = None,
    ) -> None: ...
    def insert_empty(self, partition: int, features: int) -> None: ...
    def insert_block(self, path: str | PathLike[str], partition: int) -> list[int]: ...
    def folds(self, draw: tuple[int, int] | None) -> list[tuple[int, NDArray[np.uint32]]]: ...
    def answer(self, message: bytes) -> bytes: ...

def block_file(path: str | PathLike[str]) -> dict[str, Any]: ...
def folds_named(spellings: list[str]) -> tuple[list[str], list[int]]: ...
def landmarks(approximation: str) -> int: ...
def fit_classifier(data: FitData, settings: MarginClassifierSettings, watchers: FitWatchers) -> dict[str, Any]: ...
def fit_cross_validated(data: FitData, settings: MarginClassifierCVSettings, watchers: FitWatchers) -> dict[str, Any]: ...
def separable_limit(samples: Array, signs: Array, weights: Array | None, loss: str, q: float) -> dict[str, Any]: ...
def fit_path(data: FitData, settings: MarginPathSettings, watchers: FitWatchers) -> dict[str, Any]: ...
def fit_robust(data: FitData, settings: RobustClassifierSettings, watchers: FitWatchers) -> dict[str, Any]: ...
def fit_stream(data: FitData, settings: StreamClassifierSettings, watchers: FitWatchers) -> dict[str, Any]: ...
def fit_massart(data: dict[str, Any], settings: MassartClassifierSettings, watchers: FitWatchers) -> dict[str, Any]: ...
def partial_fit_massart(state: HalfspaceState | None, data: dict[str, Any], settings: MassartClassifierSettings) -> dict[str, Any]: ...
def audit_massart(data: FitData, settings: MassartClassifierSettings, gamma: float, delta: float) -> dict[str, Any]: ...
def massart_simulation(features: int, noise: list[float], adversary: str, points: int, samples: int, seed: int) -> dict[str, Any]: ...
def massart_reweighted_loss(scores: Array, references: Array, signs: Array, eta: float, gamma: float) -> Array: ...
def massart_seconds(data: FitData, settings: MassartClassifierSettings, problem: list[float], of_calls: bool) -> float: ...
def massart_plan(problem: list[float], plan: str, rows: int | None) -> dict[str, Any]: ...
def massart_cut_plan(problem: list[float], features: int, localization: str, max_calls: int | None) -> dict[str, Any]: ...
def mixture_simulation(centres: int, features: int, sigma: float, samples: int, seed: int) -> dict[str, Any]: ...
def fit_focused(data: FitData, settings: FocusedClassifierSettings, watchers: FitWatchers) -> dict[str, Any]: ...
def fit_focused_regressor(
    samples: Samples, targets: Array, settings: FocusedRegressorSettings, watchers: FitWatchers
) -> dict[str, Any]: ...
def clipped_mean(samples: Samples, members: Array, intercepts: Array, range: tuple[float, float]) -> Array: ...
def focused_horizon(rows: int, mistakes: float, epsilon: float, delta: float, slack: float) -> tuple[int, int]: ...
def focused_failure(rows: int, mistakes: float, epsilon: float, steps: int, outputs: int, slack: float) -> float: ...
def gap_samples(rows: int, alpha: float, epsilon: float, seed: int) -> tuple[Array, Array]: ...
def rare_samples(typical: int, rare: int, seed: int) -> tuple[Array, Array]: ...
def typical_and_rare_samples(
    dimension: int, reduced_dimension: int, epsilon: float, gap: float, rare: float, delta: float
) -> tuple[int, int]: ...
def subsample_failure(rows: int, outliers: int, rare: int, size: int) -> tuple[float, float, float]: ...
def risk_bound(rows: int, dimension: int, mean_loss: float, delta: float) -> float: ...
def kernel_names() -> list[str]: ...
def loss_names() -> list[str]: ...
def loss_specification(loss: str) -> str: ...
def value(loss: str, at: Array) -> Array: ...
def derivative(loss: str, at: Array) -> Array: ...
def second_derivative(loss: str, at: Array) -> Array: ...
def proximal(loss: str, at: Array, step: float) -> Array: ...
def curvature(loss: str) -> float | None: ...
def lipschitz(loss: str) -> float | None: ...
def undecided_scores(loss: str) -> tuple[float, float] | None: ...
def conjugate(loss: str, at: Array) -> Array: ...
def population_minimizer(loss: str, at: Array) -> Array: ...
def probability(loss: str, at: Array) -> Array: ...
def psi(loss: str, at: Array) -> Array: ...
def psi_inverse(loss: str, at: Array) -> Array: ...
def not_calibrated(loss: str) -> str | None: ...
def conditional_risk(loss: str, eta: Array, score: Array | None) -> Array: ...
def least_risk(loss: str, log_odds: Array) -> tuple[float, float]: ...
def share_without_noise(log_odds: Array, delta: float) -> float: ...
def getroot(a: float, b: float, c: float, d: float) -> Array: ...
def projection_bound(margins: Array, delta: float, seed: int) -> dict[str, Any]: ...
def estimated_bound(data: FitData, gamma: float, scale: float, radius: float | None, delta: float) -> dict[str, Any]: ...
def location(sample: Array, scale: float | None, variance_bound: float | None, delta: float, changes: int, seed: int) -> dict[str, Any]: ...
def margin_location(margins: Array, weights: Array | None, gamma: float, scale: float) -> dict[str, Any]: ...
def misclassification_bound(given: BoundData, gamma: float) -> dict[str, float]: ...
def reliability(probabilities: Array, signs: Array, bins: int, strategy: str) -> dict[str, Any]: ...
