"""Priors: what is believed before any label is seen, as explicit objects.

Every field may be given in short (one number for all classes); ``resolve`` writes it out in full
for a given number of classes ``T`` and of possible answers ``C``, and checks it. All Gammas are
(shape, rate). The names and the paper's symbols:

==================  =====================  ======================================================
field               symbol                 what it is
==================  =====================  ======================================================
``mean``            eta (gamma in hcBCC)   mean confusion matrix, true class by given answer
``strength``        beta                   how many labels that mean is worth, per class
``mean_strength``   phi                    the same, one level up (hcBCC)
``class_weights``   epsilon * mu           pseudo-counts of the classes
``concentration``   alpha                  of the Chinese restaurant process over annotators
``auxiliaries``     h                      empty coteries of the Reuse algorithm
==================  =====================  ======================================================
"""

from coterie.priors.base import Beta, Gamma, Prior
from coterie.priors.models import (
    CBCCPrior,
    ConsensusPrior,
    DynamicPrior,
    EasyHardPrior,
    EBCCPrior,
    HCBCCPrior,
    IBCCPrior,
)

__all__ = [
    "Beta", "CBCCPrior", "ConsensusPrior", "DynamicPrior", "EBCCPrior", "EasyHardPrior", "Gamma",
    "HCBCCPrior", "IBCCPrior", "Prior",
]  # fmt: skip
