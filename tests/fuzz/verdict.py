"""What became of a case: a result, a refusal in a plain sentence, or a finding."""

import re
import traceback
import warnings
from typing import NamedTuple

import coterie

LONGEST = 2_000
RAW = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Verdict(NamedTuple):
    """What became of a case; ``finding`` is empty if all is well."""

    kind: str
    finding: str = ""


def flaw(sentence):
    """What is wrong with a sentence, or nothing."""
    if not sentence.strip():
        return "an empty sentence"
    if len(sentence) > LONGEST:
        return f"a sentence of {len(sentence):,} characters"
    if RAW.search(sentence):
        return f"control characters in a sentence: {sentence!r:.200}"
    return ""


def place_of(error):
    """The file and line that an error comes from."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{where.filename.rsplit('/', 1)[-1]}:{where.lineno}"


def judge(case):
    """Run a case, and say what became of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            case()
            kind = "result"
            sentences = []
        except coterie.CoterieError as error:
            kind = "refused"
            sentences = [str(error)]
        except AssertionError as error:
            return Verdict("wrong", f"{place_of(error)}: {error!s:.500}")
        except Exception as error:
            return Verdict("raised", f"{type(error).__name__} at {place_of(error)}: {error!s:.200}")
    for warning in caught:
        if not issubclass(warning.category, coterie.errors.CoterieWarning):
            return Verdict("warned", f"{warning.category.__name__}: {warning.message!s:.200}")
        sentences.append(str(warning.message))
    found = next(filter(None, map(flaw, sentences)), "")
    return Verdict("bad sentence", found) if found else Verdict(kind)
