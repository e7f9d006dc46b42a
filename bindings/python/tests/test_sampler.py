"""Focused draws for learners of the caller."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from margins_learn import FocusedSampler


def losses_of(drawn):
    return (drawn * 7 % 11) / 10


def played(sampler, rounds, batch):
    """Returns the samples drawn in so many rounds."""
    drawn = []
    for _ in range(rounds):
        drawn.append(sampler.draw(batch))
        sampler.observe(losses_of(drawn[-1]))
    return np.concatenate(drawn)


def test_a_seed_decides_the_draws():
    first, second, other = (FocusedSampler(50, random_state=seed) for seed in (7, np.int64(7), 8))
    drawn = played(first, 20, 5)
    assert drawn.dtype == np.int64 and drawn.shape == (100,)
    assert (played(second, 20, 5) == drawn).all() and (played(other, 20, 5) != drawn).any()
    assert first.n == 50 and first.n_draws == 100


@pytest.mark.parametrize("pause", ["between", "within"])
def test_a_sampler_continues_from_a_pickle_and_from_a_file(pause, tmp_path):
    sampler = FocusedSampler(30)
    played(sampler, 15, 4)
    if pause == "within":
        waiting = sampler.draw(6)
    sampler.save(tmp_path / "state")
    for other in (pickle.loads(pickle.dumps(sampler)), FocusedSampler.load(tmp_path / "state")):
        own = pickle.loads(pickle.dumps(sampler))
        if pause == "within":
            own.observe(losses_of(waiting))
            other.observe(losses_of(waiting))
        assert (played(other, 15, 4) == played(own, 15, 4)).all()
        assert (other.probabilities() == own.probabilities()).all()
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_weights_follow_the_formula():
    sampler, n = FocusedSampler(8), 8
    logarithms = np.zeros(n)
    for _ in range(60):
        p = sampler.probabilities()
        weights = np.exp(logarithms - logarithms.max())
        np.testing.assert_allclose(p, 0.5 * weights / weights.sum() + 0.5 / n, rtol=1e-12)
        drawn = sampler.draw(5)
        sampler.observe(losses_of(drawn))
        np.add.at(logarithms, drawn, losses_of(drawn) / (2 * n * p[drawn]))
    expected = 4 * n * (logarithms + np.log(n / 0.1)) / sampler.n_draws
    np.testing.assert_allclose(sampler.loss_bounds(0.1), np.minimum(expected, 1), rtol=1e-12)


def test_a_learner_with_partial_fit_gets_the_rare_sample_right():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2)) * 0.05 + [1, 0]
    y = np.ones(400, dtype=int)
    X[:200], y[:200] = -X[:200], 0
    X[-1], y[-1] = [-0.3, 3.0], 1
    sampler, learner = FocusedSampler(400), SGDClassifier(loss="perceptron", learning_rate="constant", eta0=1.0, random_state=1)
    learner.partial_fit(X[:1], y[:1], classes=[0, 1])
    for _ in range(1500):
        drawn = sampler.draw()
        sampler.observe(learner.predict(X[drawn]) != y[drawn])
        learner.partial_fit(X[drawn], y[drawn])
    assert (learner.predict(X) == y).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda sampler: FocusedSampler(0), "n is 0, but must be a whole number from 1"),
        (lambda sampler: FocusedSampler(2.5), "n is 2.5"),
        (lambda sampler: FocusedSampler(5, random_state=-1), "random_state is -1"),
        (lambda sampler: sampler.draw(0), "batch is 0"),
        (lambda sampler: sampler.draw(3), "the losses of the 2 samples drawn last are not known yet: call observe before draw"),
        (lambda sampler: sampler.observe([0.5]), "losses of the samples drawn: expected 2, found 1"),
        (lambda sampler: sampler.observe([[0.5, 0.5]]), r"losses has the shape \(1, 2\)"),
        (lambda sampler: sampler.observe([0.5, 1.5]), "loss 1, of sample [0-4], is 1.5, but must be from 0 to 1"),
        (lambda sampler: sampler.observe([0.5, np.nan]), "loss 1, of sample [0-4], is NaN"),
        (lambda sampler: sampler.observe("a"), "losses"),
        (lambda sampler: sampler.loss_bounds(0), "delta is 0"),
        (lambda sampler: sampler.loss_bounds("a"), "delta is 'a'"),
    ],
)
def test_refusals_leave_the_sampler_as_it_was(call, message):
    sampler = FocusedSampler(5)
    sampler.draw(2)
    before = pickle.dumps(sampler)
    with pytest.raises((ValueError, TypeError), match=message):
        call(sampler)
    assert pickle.dumps(sampler) == before


def test_files_that_are_no_samplers_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        FocusedSampler.load(tmp_path / "nowhere")
    (tmp_path / "text").write_text("1 2 3\n")
    with pytest.raises(ValueError, match="text: not the bytes of a focused sampler"):
        FocusedSampler.load(tmp_path / "text")
