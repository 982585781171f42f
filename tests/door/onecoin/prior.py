"""The prior of OneCoin."""

from __future__ import annotations

from dataclasses import dataclass

from coterie.extend import Beta, Numbers, Prior, per_class


@dataclass(frozen=True, eq=False)
class OneCoinPrior(Prior):
    """skill[l] ~ Beta(a, b) for every annotator l; tau ~ Dir(class_weights)."""

    skill: Beta = Beta(4.0, 2.0)
    class_weights: Numbers = 1.0

    def resolve(self, n_classes, n_answers):
        """Write every field out for so many classes and possible answers, and check it."""
        return OneCoinPrior(
            skill=self.skill.resolve("OneCoinPrior.skill"),
            class_weights=per_class(self.class_weights, "OneCoinPrior.class_weights", n_classes),
        )
