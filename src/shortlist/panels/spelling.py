"""Labels that differ in spelling alone: in capital letters, or in punctuation, quotes and blanks."""

from collections import Counter
from collections.abc import Mapping, Sequence

from shortlist._words import all_of, counted
from shortlist.export.reader import without_punctuation

CASE, PUNCTUATION = "case", "punctuation"
FOLDS = (PUNCTUATION, CASE)
"""What may be folded, so that it makes no difference between labels."""


def folded(label: str, ways: Sequence[str]) -> str:
    """Return what stands for a label and all that differ from it in these ways.

    >>> folded('"Refund."', ["case", "punctuation"]), folded("  a  B ", ["punctuation"])
    ('refund', 'a B')
    """
    label = without_punctuation(label) if PUNCTUATION in ways else label
    return label.casefold() if CASE in ways else label


def spelling_notes(times: Mapping[str, int], classes: Sequence[str]) -> list[str]:
    """Return a sentence on labels that only spelling tells apart, with counts and the option that folds them.

    `times`: how many times each label was said. `classes`: what others are compared with, if any; otherwise
    the most frequent label of each spelling is.
    """
    by_folded: dict[str, Counter[str]] = {}
    for label, count in times.items():
        by_folded.setdefault(folded(label, FOLDS), Counter())[label] += count
    others: list[tuple[str, int, str]] = []
    for alike in by_folded.values():
        if len(alike) > 1:
            usual = next((one for one in classes if one in alike), alike.most_common(1)[0][0])
            others += [(label, count, usual) for label, count in alike.items() if label != usual]
    if not others:
        return []
    others.sort(key=lambda one: (-one[1], one[0]))
    ways = [way for way in FOLDS if any(_differ_by(way, label, usual) for label, _, usual in others)]
    told = all_of(
        f"{label[:40]!r} ({counted(count, 'time')}, like {usual[:40]!r})"
        for label, count, usual in others[:3]
    )
    total = sum(count for _, count, _ in others)
    return [
        (
            f"{counted(total, 'answer')} differ from others in spelling alone: {told}"
            f"{f' and {len(others) - 3:,} more' if len(others) > 3 else ''}. Pass "
            f"`fold={','.join(ways)!r}` to take "
            "them as the same."
        )
    ]


def _differ_by(way: str, one: str, other: str) -> bool:
    """Whether folding in the other way alone leaves two labels apart."""
    rest = [each for each in FOLDS if each != way]
    return folded(one, rest) != folded(other, rest)
