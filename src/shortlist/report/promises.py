"""What is promised about answers to new rows, as parts of a page."""

from shortlist.guarantees.guarantee import ASSUMPTION, Guarantee
from shortlist.report.parts import Facts, Heading, Parts, Text


def guarantee_parts(found: Guarantee) -> Parts:
    """Return a guarantee as a sentence, its numbers, and what it rests on."""
    facts = (
        ("promised", "yes" if found.promised else "nothing"),
        ("right answers, at least", f"{100 * found.accuracy:g} %"),
        ("confidence", f"{100 * found.confidence_level:g} %"),
        ("answered from confidence", f"{found.threshold:.4f}" if found.promised else "never"),
        ("calibration rows answered", f"{found.n_answered:,} of {found.n_rows:,}"),
    )
    return [Heading("What is promised"), Text(found.sentence()), Facts(facts), Text(ASSUMPTION, note=True)]
