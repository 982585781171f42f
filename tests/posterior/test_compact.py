"""Compact results: what is given up, and what stays."""

from dataclasses import replace

import numpy as np
import pytest

import coterie
from builders.saved import example, same
from coterie.posterior.draws import DrawnArray, Draws, most_draws


def many_draws(chains=4, matrices=203, per_matrix=2):
    """Draws whose every number says which draw it is of."""
    place = np.tile(np.arange(matrices), (chains, 1)).astype(np.float32)
    seats = np.tile(np.arange(matrices * per_matrix), (chains, 1)).astype(np.int32)
    return Draws(
        confusion=np.tile(place[:, :, None, None, None], (1, 1, 3, 2, 2)),
        class_balance=np.tile(place[:, :, None], (1, 1, 2)),
        partition=np.tile(seats[:, :, None], (1, 1, 3)),
        n_coteries=seats.astype(np.int64),
        extra={"guess": DrawnArray((), place.astype(np.float64))},
    )


def test_matrices_are_thinned_evenly_and_stay_with_their_partitions():
    kept = many_draws().compact()
    assert kept.confusion.shape[:2] == (4, 101)
    assert np.array_equal(kept.confusion[0, :, 0, 0, 0], np.arange(1, 203, 2))
    assert np.array_equal(kept.class_balance[3, :, 1], np.arange(1, 203, 2))
    assert np.array_equal(kept.extra["guess"].values[0], np.arange(1, 203, 2))
    step = kept.partition.shape[1] // 101
    assert np.array_equal(kept.partition[0, step - 1 :: step, 0] // 2, np.arange(1, 203, 2))
    assert kept.n_coteries.shape == kept.partition.shape[:2] == (4, 404)


def test_few_draws_all_stay_in_half_precision():
    draws = example().draws
    third = replace(draws, confusion=np.full_like(draws.confusion, 1 / 3))
    kept = third.compact()
    assert kept.confusion.dtype == np.float32
    assert abs(kept.confusion - 1 / 3).max() < 2**-12
    assert np.array_equal(kept.partition, draws.partition)
    assert kept.last == draws.last


def test_nothing_is_kept_of_nothing():
    assert many_draws(matrices=0).compact().confusion.shape[1] == 0


@pytest.mark.parametrize("cells", [1, 10**5, 10**9])
def test_a_large_crowd_keeps_fewer_draws_but_a_hundred(cells):
    assert 100 <= most_draws(cells) <= 500


def test_a_compact_result_is_saved_in_half_precision_and_comes_back_as_it_was(tmp_path):
    crowd = coterie.simulate("mixed", items=30, annotators=8, random_state=0)
    posterior = coterie.IBCC(sweeps=60, burn_in=20, chains=2, random_state=0, progress=False).fit(
        crowd.annotations
    )
    whole, small = posterior.posterior_, posterior.posterior_.compact()
    whole.save(tmp_path / "whole.coterie")
    small.save(tmp_path / "small.coterie")
    same(coterie.load(tmp_path / "small.coterie"), small)
    same(coterie.load(tmp_path / "small.coterie").compact(), small)
    saved = [(tmp_path / name).stat().st_size for name in ("whole.coterie", "small.coterie")]
    assert saved[0] - saved[1] == whole.draws.confusion.nbytes // 2
    truths = [state["truth"] for state in small.draws.last]
    assert [truth.shape for truth in truths] == [(30,), (30,)]


def test_a_point_estimate_has_nothing_to_give_up():
    posterior = coterie.MajorityVote().fit([("q1", "ann", "yes"), ("q2", "bob", "no")]).posterior_
    assert posterior.compact() is posterior
