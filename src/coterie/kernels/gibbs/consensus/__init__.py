"""Consensus: hcBCC with hard items and a learnt base."""
