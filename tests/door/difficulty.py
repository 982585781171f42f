"""Some people are better, some items harder: a label of item i is its class z[i] with probability
s(skill[l] + ease[level[i]]), s the logistic function, else any other answer; skills are even.
"""

from dataclasses import dataclass

import numpy as np

from coterie import extend as door

EASE, SKILL = np.array([2.0, 0.0, -2.0]), np.linspace(-2, 4, 13)


@dataclass(frozen=True, eq=False)
class DifficultyPrior(door.Prior):
    """tau ~ Dir(class_weights), rho ~ Dir(level_weights)."""

    class_weights: door.Numbers = 1.0
    level_weights: door.Numbers = 2.0

    def resolve(self, n_classes, n_answers):
        levels = door.per_class(self.level_weights, "DifficultyPrior.level_weights", 3, "level")
        classes = door.per_class(self.class_weights, "DifficultyPrior.class_weights", n_classes)
        return DifficultyPrior(classes, levels)


class DifficultyPeople(door.People):
    """Given labels by class and level, everybody's skill; a cell is a class and a level."""

    def __init__(self, prior, crowd):
        self.dims = {"skill": ("annotator",)}  # what is kept beside, and its axes
        super().__init__(crowd, door.with_kinds(prior.class_weights, prior.level_weights))
        right = 1 / (1 + np.exp(-SKILL[:, None] - EASE[self.space.cell_kind]))[:, None]
        own = np.arange(crowd.n_answers)[:, None] == self.space.cell_class
        self.chance = np.where(own, right, (1 - right) / max(crowd.n_answers - 1, 1))

    def log_p(self, state):  # log p(labels | skill); chances are (skills, answers, cells)
        return np.einsum("lcf,scf->ls", state["said"], np.log(self.chance))

    def skills(self, state, rng, spare):  # those without labels have a stream of their own
        logs, found = self.log_p(state), np.zeros(self.n_rows, int)
        for some, stream in ((self.crowd.heard, rng), (~self.crowd.heard, spare)):
            found[some] = door.pick(logs[some], stream)
        return found

    def draw(self, state, rng):
        return np.log(self.chance)[self.skills(state, rng, np.random.default_rng(0))]

    def move(self, state, sweep, rng):  # log p(labels), skills summed out
        return np.logaddexp.reduce(self.log_p(state) - np.log(len(SKILL)), axis=1).sum()

    def means(self, state, seats):
        p = np.exp(self.log_p(state) - np.logaddexp.reduce(self.log_p(state), axis=1)[:, None])
        return np.einsum("ls,scf->lcf", p, self.chance)

    def matrices(self, state, seats, streams):
        state["skill"] = self.skills(state, streams.draws, streams.spare)
        return self.chance[state["skill"]]

    def extra(self, state, drawn, shares, balance):
        return {"skill": SKILL[state.pop("skill")]}


class Difficulty(door.SamplingEstimator):
    """Items of three levels, people of many skills: who is right, and how hard each item is."""

    prior_type = DifficultyPrior

    def people(self, prior, crowd, data):
        return DifficultyPeople(prior, crowd)

    def after(self, people):
        def report(found, data):  # how likely an item is of the last level
            hardness = door.ItemNumbers(("hardness",), found.kinds[:, 2:])
            return door.Reported(found.item_probability, {"hardness": hardness})

        return door.Afterwards(report=report)
