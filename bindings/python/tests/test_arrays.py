"""A few of the arrays that `arrays.py` makes of bytes; docs/fuzzing.md records the many."""

from arrays import at_random, attempt, attempt_native, no_warnings

# A game whose ensemble overflows on a row that no round drew.
OVERFLOW = bytes.fromhex(
    "e63f77008f00000000000000000000000000000000000057f1000000000000000000004900000000000000f700000000e4005b00da5dcc002fceb4e3"
    "a3000b004757964cd2000000050071000000000000000000003cca1cd3fadd4700df009100000000000000000000000000000000e7000000e7000000"
    "00e7e7000000000000000000000000000000000000e700000000e70000000000e7000000e700000000e7e7000000e700000000e7e7000000e7000000"
    "00e755009700000000c1005d"
)


def test_a_fit_that_cannot_decide_its_own_rows_is_refused():
    with no_warnings():
        assert attempt(OVERFLOW) == "refused"


def test_arrays_of_random_bytes_are_fitted_or_refused():
    outcomes, _ = at_random(600, 1)
    assert outcomes["fitted"] > 30 and outcomes["refused"] > 30, outcomes


def test_arrays_of_random_bytes_are_taken_or_refused_by_the_compiled_library():
    outcomes, _ = at_random(2000, 1, attempt_native)
    assert outcomes["fitted"] > 100 and outcomes["refused"] > 100, outcomes
