"""Quick consensus: two models without sampling, tempered by how alike labels are, and blended."""

from coterie.kernels.quick.consensus import Consensus, quick_consensus, tempered_skills

__all__ = ["Consensus", "quick_consensus", "tempered_skills"]
