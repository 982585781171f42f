"""What comes from outside, damaged at random: a result or one plain sentence, never more.

A case is a kind and a number; the same two make the same case on every machine.
"""
