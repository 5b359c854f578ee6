"""Options of panels: one list for :func:`shortlist.panels.choice.choose_panels` and the command."""

from dataclasses import dataclass
from typing import Annotated

from shortlist._validation import AUTO, as_choice
from shortlist.errors import BadInputError


@dataclass(frozen=True, kw_only=True)
class PanelSettings:
    """Options of panels that are plain values, such as texts and numbers."""

    decide: Annotated[
        str, "How answers are combined: logistic, dawid-skene, votes, weighted-votes, agreement or auto."
    ] = AUTO
    """One vote for each judge is always a candidate. ``auto`` tries agreement cascades, weighted votes, and
    one learned score: logistic regression for up to five judges or for judges with confidences, and the model
    of Dawid and Skene otherwise. For free text ``auto`` tries agreement and votes alone, and for scores alone
    confidence.
    """
    votes: Annotated[str, "Which class wins votes: plurality (the most) or majority (more than half)."] = (
        "plurality"
    )
    missing: Annotated[str, "How a majority treats missing votes: ignored, or counted in the total."] = (
        "ignored"
    )
    max_stages: Annotated[int, "Most stages of a panel, 1 to 3."] = 3
    ties: Annotated[
        str, "What equal votes decide: nothing (unanswered), or the first of the equal classes."
    ] = "unanswered"
    positive: Annotated[str | None, "Class that counts as positive; by default the last one, sorted."] = None
    """Only the objectives recall and specificity use the positive class."""
    test_share: Annotated[
        float | None,
        "Share of the cases in the hold-out set; by default 0.25, or 0 with at most 20,000 cases.",
    ] = None
    """Share from 0.05 to 0.5; see :func:`shortlist.panels.panel_options.all_choose`."""

    def check(self) -> None:
        """Refuse bad values.

        Raises BadInputError for the first bad value.
        """
        from shortlist.panels.decisions import MISSING, TIES, VOTE_RULES  # late, as help needs no kernels
        from shortlist.panels.learning import LEARNERS

        as_choice(self.decide, "decide", (AUTO, *LEARNERS))
        as_choice(self.votes, "votes", VOTE_RULES)
        as_choice(self.missing, "missing", MISSING)
        as_choice(self.ties, "ties", TIES)
        if self.max_stages not in {1, 2, 3}:
            raise BadInputError("max_stages", "must be 1, 2 or 3", repr(self.max_stages))
        if self.test_share is not None and not 0.05 <= self.test_share <= 0.5:
            raise BadInputError("test_share", "must be from 0.05 to 0.5", f"{self.test_share:g}")
