"""How large a reproduction is: every number that decides it, in one place."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

PAPER_LEVELS = (0.825, 0.85, 0.875, 0.9, 0.925, 0.95, 0.975)
REAL_LEVELS = (0.25, 0.5, 0.75, 0.775, 0.8, *PAPER_LEVELS)
REAL_SETS = ("bluebird", "rte", "valence", "temp")


@dataclass(frozen=True)
class Settings:
    """The size of a reproduction; whatever changes a number is here.

    Parameters
    ----------
    name
        What it is called on the page and in the pictures.
    seed
        The root of every seed.
    sweeps, burn_in
        Of every chain, in all and dropped; the paper's are 10,000 and 3,000.
    databases
        Random databases per level of sparsity. Each is fitted with one chain and without early
        stopping, as in the paper: one chain cannot tell whether others would agree.
    runs, chains
        Independent fits of each model to each whole real set, and the chains pooled in each.
    levels, real_levels
        Shares of missing labels, of the synthetic sets and of the real ones (those above a set's
        own sparsity that every random thinning can reach).
    items, annotators
        Size of the synthetic sets.
    crowds
        Crowds drawn from the prior for each correlation.
    real_sets
        The real data sets.
    """

    name: str = "full"
    seed: int = 0
    sweeps: int = 10_000
    burn_in: int = 3_000
    databases: int = 50
    runs: int = 5
    chains: int = 4
    levels: tuple[float, ...] = PAPER_LEVELS
    real_levels: tuple[float, ...] = REAL_LEVELS
    items: int = 500
    annotators: int = 200
    crowds: int = 4_000
    real_sets: tuple[str, ...] = REAL_SETS

    @property
    def is_full(self) -> bool:
        """Whether these are the paper's numbers."""
        return (self.sweeps, self.burn_in, self.databases) == (10_000, 3_000, 50)

    def is_full_for(self, experiment: str) -> bool:
        """Whether they are for this experiment: only averages over databases need all of those.

        Examples
        --------
        >>> from dataclasses import replace
        >>> small = replace(FULL, databases=10)
        >>> small.is_full_for("accuracy"), small.is_full_for("sparsity-real")
        (True, False)
        """
        averages = experiment in ("sparsity-synthetic", "sparsity-real")
        return self.is_full or (not averages and replace(self, databases=50).is_full)

    def command(self) -> str:
        """Give the command that makes a run of this size.

        Examples
        --------
        >>> from dataclasses import replace
        >>> replace(QUICK, databases=8).command()
        'coterie reproduce --quick --databases 8'
        """
        base = QUICK if self.name == "quick" else FULL
        words = ["coterie reproduce", *(["--quick"] if base is QUICK else [])]
        for name in ("databases", "runs"):
            if getattr(self, name) != getattr(base, name):
                words.append(f"--{name} {getattr(self, name)}")
        return " ".join(words)

    def record(self) -> dict[str, Any]:
        """Give plain numbers and words, ready for JSON."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }

    def describe(self) -> str:
        """Say in one line how large the run is.

        Examples
        --------
        >>> FULL.describe()
        '50 databases per level, 10,000 sweeps of which 3,000 dropped, 5 runs of 4 chains'
        """
        return (
            f"{self.databases} databases per level, {self.sweeps:,} sweeps of which "
            f"{self.burn_in:,} dropped, {self.runs} run{'s' if self.runs > 1 else ''} of "
            f"{self.chains} chains"
        )


FULL = Settings()
"""The paper's numbers."""

QUICK = Settings(
    "quick",
    sweeps=1_200,
    burn_in=400,
    databases=4,
    runs=1,
    levels=(0.825, 0.875, 0.925, 0.975),
    real_levels=(0.5, 0.75, 0.85, 0.9, 0.95, 0.975),
    crowds=400,
)
"""The whole story in minutes: fewer databases, levels, runs and sweeps."""
