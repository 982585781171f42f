"""Blocked samplers, whose items are independent given matrices: iBCC, cBCC, hcBCC, Consensus.

A sweep has three parts. ``begin_sweep`` updates what the model updates before the truths and draws
everybody's matrix and the class balance given the counts; ``items.sweep_items``, of Consensus
``hard.sweep_hard_items``, draws the truths of any part of the items, which may lie anywhere;
``finish_sweep`` takes the summed counts and does what comes after. Matrices are forgotten then:
coteries and their parameters are updated by the samplers' own steps, with the matrices integrated
out.

``run_block`` does whole sweeps in one place, and is what the exact tests are run on.
"""
