"""What a model can do, declared by the model in one place and read by everybody else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Method = Literal["count", "em", "gibbs", "blocked gibbs", "variational"]
"""How a model is fitted: by counting, by an iteration to a point, by sampling with the matrices
integrated out or drawn, by a bound."""
SAMPLED: tuple[Method, ...] = ("gibbs", "blocked gibbs")
"""Those that leave chains behind."""


@dataclass(frozen=True)
class Abilities:
    """What a model can do. Tables, reports, plots and commands ask this, never its name.

    Parameters
    ----------
    coteries
        It groups the annotators: its draws have partitions.
    uncertainty
        It keeps draws: there are intervals and roles. If its method is one of ``SAMPLED``, they
        are those of chains, and there are diagnostics too.
    probabilities
        Its item probabilities are beliefs; False if they are shares of votes, which cannot say
        how many labels are wrong.
    accuracies
        Its confusion matrices set answers against the truth; False if against the vote, own
        answers included, which judges nobody.
    likeliest
        Its confusion matrices are the likeliest ones, in which an answer that was not yet given is
        never given; False if they are means.
    share_right
        Accuracies are shares of right labels under the reported probabilities, with an interval
        that allows for mistakes that everybody shares; False if they are read off the matrices.

    Examples
    --------
    >>> Abilities(coteries=True, uncertainty=True)
    Abilities(coteries=True, uncertainty=True, probabilities=True, accuracies=True, ...)
    """

    coteries: bool = False
    uncertainty: bool = False
    probabilities: bool = True
    accuracies: bool = True
    likeliest: bool = False
    share_right: bool = False


@dataclass(frozen=True)
class Takes:
    """What a model can be told beside labels and a prior. Commands ask this, never for parameters.

    Parameters
    ----------
    known_kinds
        ``fit(..., kinds=)``: the kind of every item.
    latent_kinds
        A parameter ``kinds``: how many kinds of items to look for.
    engine
        A parameter ``engine``: who sweeps the shards of a scan.

    Examples
    --------
    >>> Takes(known_kinds=True)
    Takes(known_kinds=True, latent_kinds=False, engine=False)
    """

    known_kinds: bool = False
    latent_kinds: bool = False
    engine: bool = False


POINT = Abilities()
"""Those of a point estimate, which most models without draws are."""
