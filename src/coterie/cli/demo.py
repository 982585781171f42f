"""coterie demo: the main job on a synthetic crowd whose truth is known."""

from __future__ import annotations

import pandas as pd

from coterie.cli import show
from coterie.models import MajorityVote, make_model
from coterie.posterior import Posterior
from coterie.simulation import Crowd, simulate


def run(model: str, seed: int) -> None:
    """Simulate, aggregate, show; beside the truth, which only the simulation knows."""
    crowd = simulate("mixed", random_state=seed)
    out = show.console()
    out.print(f"A synthetic crowd: {crowd.annotations.describe()}")
    posterior = make_model(model, random_state=seed).fit(crowd.annotations).posterior_
    vote = MajorityVote().fit(crowd.annotations).posterior_
    show.summary(posterior, [show.scores_of(p, crowd.truth) for p in (vote, posterior)])
    show.table(group_table(posterior, crowd), "Who they really are", out)
    show.convergence(posterior)


def group_table(posterior: Posterior, crowd: Crowd) -> pd.DataFrame:
    """Average the estimates over each group that the simulation planted."""
    groups = posterior.annotators().set_index("annotator").groupby(crowd.groups)
    frame = groups[["accuracy", "informativeness"]].mean()
    frame.insert(0, "annotators", groups.size())
    frame = frame.sort_values("informativeness", ascending=False)
    return frame.rename_axis("group").reset_index()
