"""A few of the arrays that `arrays.py` makes of bytes; docs/fuzzing.md records the many."""

from arrays import at_random, attempt_native


def test_arrays_of_random_bytes_are_fitted_or_refused():
    outcomes, _ = at_random(600, 1)
    assert outcomes["fitted"] > 30 and outcomes["refused"] > 30, outcomes


def test_arrays_of_random_bytes_are_taken_or_refused_by_the_compiled_library():
    outcomes, _ = at_random(2000, 1, attempt_native)
    assert outcomes["fitted"] > 100 and outcomes["refused"] > 100, outcomes
