"""coterie demo: the main job on a synthetic crowd whose truth is known."""

from __future__ import annotations

import time
from pathlib import Path

from coterie.cli import aggregate, show
from coterie.metrics import adjusted_rand_index
from coterie.models import make_model
from coterie.models.majority import score_beside_vote
from coterie.posterior import Posterior
from coterie.simulation import Crowd, simulate


def run(model: str, seed: int, out: Path | None, force: bool) -> None:
    """Simulate, aggregate, show; beside the truth, which only the simulation knows."""
    job = aggregate.Job(model, {"random_state": seed}, None, out, "csv", force)
    estimator = make_model(model, **job.settings)
    paths = aggregate.places(job, estimator)
    crowd = simulate("mixed", annotators=60, labels_per_item=15, random_state=seed)
    show.console().print(f"A synthetic crowd: {crowd.annotations.describe()}")
    start = time.perf_counter()
    posterior = estimator.fit(crowd.annotations).posterior_
    seconds = time.perf_counter() - start
    scored = score_beside_vote(posterior, crowd.truth)
    scores = scored.by_model(posterior.model)
    record = {
        **aggregate.describe(posterior, job, seconds),
        "scores": scored.own.numbers(),
        "input": {"simulated": "mixed", **aggregate.sizes(crowd.annotations)},
    }
    with aggregate.keeping(posterior, scores):
        aggregate.write(posterior, paths, record, scored, force=force)
    remark = recovery(posterior, crowd) if posterior.abilities.coteries else ""
    show.result(posterior, scores, list(paths.values()), remark)


def recovery(posterior: Posterior, crowd: Crowd) -> str:
    """Say how well the coteries match the groups that the simulation planted."""
    found = posterior.annotators().set_index("annotator")["coterie"].dropna()
    planted = crowd.groups.value_counts()
    groups = ", ".join(f"{n} {name}" for name, n in planted.items())
    index = adjusted_rand_index(found, crowd.groups)
    return f"Planted: {groups}; adjusted Rand index of the coteries {index:.2f} (1: the same)."
