"""How good are the labels, how well do annotators agree, how close are two partitions."""

from coterie.metrics.agreement import (
    adjusted_rand_index,
    fleiss_kappa,
    krippendorff_alpha,
    krippendorff_interval,
    variation_of_information,
)
from coterie.metrics.scorer import Score, score
from coterie.metrics.scores import (
    accuracy,
    balanced_accuracy,
    brier_score,
    confusion,
    expected_calibration_error,
    informativeness,
    log_loss,
    reliability,
)

__all__ = [
    "Score", "accuracy", "adjusted_rand_index", "balanced_accuracy", "brier_score", "confusion",
    "expected_calibration_error", "fleiss_kappa", "informativeness", "krippendorff_alpha",
    "krippendorff_interval", "log_loss", "reliability", "score", "variation_of_information",
]  # fmt: skip
