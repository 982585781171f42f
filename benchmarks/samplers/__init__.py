"""How fast the samplers are, as ratios measured in one run; see ``docs/performance.md``."""
