"""What a sweep over cells costs beside one of the model without: ``python -m benchmarks.cells``.

Latent kinds, sub-types and easy or hard items weigh K times as many cells as there are classes.
Nanoseconds a label and sweep, in turns, beside the model without that is sampled in the same way,
and the ratio: K is what the arithmetic alone would cost.
"""

from __future__ import annotations

import coterie
from benchmarks.samplers.adapters import Sampler
from benchmarks.samplers.timing import in_turns

BLOCKED = {"sampler": "blocked", "progress": False}
PLAIN = {name: getattr(coterie, name)(**BLOCKED) for name in ("IBCC", "CBCC", "HCBCC")}
MODELS = {
    "iBCC, 2 kinds": (coterie.IBCC(kinds=2, progress=False), "IBCC"),
    "EBCC, 2 sub-types": (
        coterie.EBCCGibbs(prior=coterie.EBCCPrior(subtypes=2), progress=False), "IBCC"
    ),
    "EasyHard": (coterie.EasyHardBCC(progress=False), "IBCC"),
    "cBCC, 2 kinds": (coterie.CBCC(kinds=2, progress=False), "CBCC"),
    "hcBCC, 2 kinds": (coterie.HCBCC(kinds=2, progress=False), "HCBCC"),
}  # fmt: skip
WARM_UP = 200  # until as few items move as ever will


def main() -> None:
    for classes in (2, 4):
        sizes = {"items": 2_000, "annotators": 60, "classes": classes, "labels_per_item": 10}
        crowd = coterie.simulate("mixed", **sizes, random_state=0).annotations
        print(f"20,000 labels of 60, {classes} classes: nanoseconds a label and sweep")
        for name, (model, without) in MODELS.items():
            chains = [Sampler(one, crowd) for one in (model, PLAIN[without])]
            for chain in chains:
                chain.run(WARM_UP)
            ours, plain = in_turns([chain.run for chain in chains], 2.0)
            each = (1e9 * seconds / crowd.n_labels for seconds in (ours, plain))
            print(f"  {name:20s} {next(each):7.1f} {next(each):7.1f}   {ours / plain:5.2f}")


if __name__ == "__main__":
    main()
