"""How large a reproduction is, and what the paper prints, with the table or figure it is from."""

from __future__ import annotations

from dataclasses import dataclass

MODELS = {"majority": "majority", "ibcc": "iBCC", "cbcc": "cBCC", "hcbcc": "hcBCC"}
"""Our names of the models, and the paper's."""
SAMPLED = ("ibcc", "cbcc", "hcbcc")
CLUSTERED = ("cbcc", "hcbcc")

PAPER_LEVELS = (0.825, 0.85, 0.875, 0.9, 0.925, 0.95, 0.975)
REAL_LEVELS = (0.25, 0.5, 0.75, 0.775, 0.8, *PAPER_LEVELS)


@dataclass(frozen=True)
class Printed:
    """What the paper prints of a real set; all shares in percent."""

    description: tuple[float, ...]  # table "Description of the real datasets", as DESCRIBED
    accuracy: tuple[float, ...]  # table "Results for the real data", as MODELS
    clusters: dict[str, tuple[float, float]]  # the same, "Average number of clusters": mean, sd
    shares: tuple[float, ...]  # text beside "Mean confusion matrices": clusters that it names
    shown: int  # the same: clusters that it describes
    roles: str


DESCRIBED = ("items", "annotators", "labels_per_annotator", "labels_per_item", "sparsity")
PAPER = {
    "bluebird": Printed(
        (108, 39, 108, 39, 0.0), (75.93, 89.81, 88.89, 88.89),
        {"cbcc": (11.32, 0.04), "hcbcc": (3.31, 0.09)}, (35.90, 33.33, 15.38, 15.38), 4,
        "15.38 % experts; 35.90 % good on class 1 and poor on class 2; 15.38 % who mostly say 2 "
        "and 33.33 % who mostly say 1",
    ),
    "rte": Printed(
        (800, 164, 49, 10, 93.90), (91.88, 92.88, 93.12, 93.12),
        {"cbcc": (7.70, 0.07), "hcbcc": (2.30, 0.06)}, (93.29,), 2,
        "93.29 % good; the others lean towards class 2",
    ),
    "valence": Printed(
        (100, 38, 26, 10, 73.68), (80.00, 85.00, 88.00, 89.00),
        {"cbcc": (3.5, 0.04), "hcbcc": (2.25, 0.02)}, (89.47,), 2,
        "89.47 % very good on class 2 and fair on class 1; the others almost always say 2",
    ),
    "temp": Printed(
        (462, 76, 61, 10, 86.84), (93.94, 94.35, 94.37, 94.37),
        {"cbcc": (6.20, 0.03), "hcbcc": (3.2, 0.02)}, (84.21,), 3,
        "84.21 % experts; two small clusters of spammers",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """The size of a reproduction; whatever changes a number is here."""

    name: str = "full"
    seed: int = 0  # the root of every seed
    sweeps: int = 10_000  # of every chain, in all
    burn_in: int = 3_000  # and dropped
    databases: int = 50  # random ones per level, each fitted with one chain, as in the paper
    runs: int = 5  # independent fits of each model to each whole real set
    chains: int = 4  # pooled in each run
    levels: tuple[float, ...] = PAPER_LEVELS  # shares of missing labels of the synthetic sets
    real_levels: tuple[float, ...] = REAL_LEVELS  # of real ones, as far as they can be reached
    items: int = 500  # of the synthetic sets
    annotators: int = 200
    crowds: int = 4_000  # drawn from the prior for each correlation
    real_sets: tuple[str, ...] = tuple(PAPER)

    def is_full_for(self, experiment: str) -> bool:
        """Whether these are the paper's numbers: only averages over databases need all of those.

        >>> small = Settings(databases=10)
        >>> small.is_full_for("accuracy"), small.is_full_for("sparsity-real")
        (True, False)
        """
        enough = self.databases == FULL.databases or not experiment.startswith("sparsity")
        return enough and (self.sweeps, self.burn_in) == (FULL.sweeps, FULL.burn_in)

    def command(self) -> str:
        """Give the command that makes a run of this size: make paper ARGS="--databases 8"."""
        base = QUICK if self.name == "quick" else FULL
        words = ["--quick"] if base is QUICK else []
        for name in ("databases", "runs"):
            if getattr(self, name) != getattr(base, name):
                words.append(f"--{name} {getattr(self, name)}")
        return f'make paper ARGS="{" ".join(words)}"' if words else "make paper"

    def describe(self) -> str:
        """Say in one line how large the run is."""
        return (
            f"{self.databases} databases per level, {self.sweeps:,} sweeps of which "
            f"{self.burn_in:,} dropped, {self.runs} run{'s' if self.runs > 1 else ''} of "
            f"{self.chains} chains"
        )


FULL = Settings()
"""The paper's numbers."""

QUICK = Settings(
    "quick", sweeps=1_200, burn_in=400, databases=4, runs=1, crowds=400,
    levels=(0.825, 0.875, 0.925, 0.975), real_levels=(0.5, 0.75, 0.85, 0.9, 0.95, 0.975),
)  # fmt: skip
"""The whole story in minutes: fewer databases, levels, runs and sweeps."""
