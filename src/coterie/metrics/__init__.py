"""How good are the labels, how well do annotators agree, how close are two partitions."""

from coterie.metrics.agreement import fleiss_kappa, krippendorff_alpha, krippendorff_interval
from coterie.metrics.calibration import expected_calibration_error, reliability
from coterie.metrics.matrices import informativeness
from coterie.metrics.partitions import adjusted_rand_index, variation_of_information
from coterie.metrics.scorer import Score, score
from coterie.metrics.scores import accuracy, balanced_accuracy, brier_score, confusion, log_loss

__all__ = [
    "Score",
    "accuracy",
    "adjusted_rand_index",
    "balanced_accuracy",
    "brier_score",
    "confusion",
    "expected_calibration_error",
    "fleiss_kappa",
    "informativeness",
    "krippendorff_alpha",
    "krippendorff_interval",
    "log_loss",
    "reliability",
    "score",
    "variation_of_information",
]
