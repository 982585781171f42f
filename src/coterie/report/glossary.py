"""Words of the page, explained where they stand and once more at its end."""

from __future__ import annotations

TERMS = {
    "coterie": "A group of annotators who answer alike, found from their answers alone.",
    "accuracy": "The share of answers that are right, as far as the labels here say; the two "
    "numbers behind it are the 95 % interval.",
    "informativeness": "What answers say about the truth: 0 is nothing, 1 is always right, or "
    "wrong in a way that can be undone.",
    "spread": "How much the members of a coterie differ from each other: 0 is not at all, 1 the "
    "most there can be.",
    "role": "What a pattern of answers is called: given only if at least four of five draws "
    "support it. 'Too little gold to say': known labels of some items are needed to tell.",
    "certainty": "The probability of the label, by the model. How far to believe it is said above.",
    "expected right": "The probabilities of all labels added up: what the model claims, not what "
    "anybody has checked.",
    "label": "The class that an item most probably has.",
    "or else": "The next most probable class, with its probability.",
    "agreement": "Krippendorff's alpha of the answers: 1 is full agreement, 0 what chance gives.",
    "known": "Gold: the label was given, and the model took it as certain.",
    "95 % interval": "Where the number lies with 95 % probability.",
    "calibration error": "How far certainty and share of right labels lie apart, on average over "
    "ten bins of equal width.",
    "log loss": "Mean of minus the log of the probability of the truth: 0 is best; certain and "
    "wrong costs most.",
    "Brier score": "Mean squared distance of the probabilities from the truth: 0 is best, 2 worst.",
    "balanced accuracy": "The share of right labels in each class, averaged over the classes.",
    "chain": "One run of the sampler from its own random start; several show whether they agree.",
    "sweep": "One pass of a chain over everything that is unknown.",
    "R-hat": "Compares chains with each other: 1 is no difference.",
    "effective draws": "How many independent draws those of the chains are worth.",
}
"""What is said on hovering, and under the heading of all words."""


def term(word: str) -> str:
    """Give the explanation of a word.

    Examples
    --------
    >>> term("chain")
    'One run of the sampler from its own random start; several show whether they agree.'
    """
    return TERMS[word]
