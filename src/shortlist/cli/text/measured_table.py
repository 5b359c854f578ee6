"""Figures of rules on the test rows, as a table for people and as facts for JSON."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.cli.text.output import print_lines

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shortlist.ensembles.measured import Measured
    from shortlist.results.intervals import Difference, Interval


POINT_INTERVALS = "Intervals at 95 %: Wilson's for shares, normal for the mean cost."


def print_held_out(
    measured: Mapping[str, Mapping[str, Any]],
    *,
    repeated: bool = False,
    classes: "Classes | None" = None,
    errors: "NDArray[np.float64] | None" = None,
) -> None:
    """Print figures as :meth:`Figures.as_dict` returns them, a line for each name.

    `repeated`: whether repeated choice measured. `classes`: two classes whose recall and specificity are
    printed. `errors`: cost of each answer by class, printed in place of the share of right answers.
    """
    from shortlist.results.class_shares import cost_of_errors
    from shortlist.results.intervals import with_interval

    n_rows = next(iter(measured.values()))["n_rows"]
    within = "" if classes is None else "; in brackets 95 % intervals"
    print(
        f"Repeated choice: {n_rows:,} rows, each measured by choices made without it{within}."
        if repeated
        else f"Held out: {n_rows:,} test rows, on which nothing was fitted and nothing chosen{within}."
    )
    print(f"{'':<14}{'answered':<25}{'right of these' if errors is None else 'cost of errors':<25}mean cost")
    for name, one in measured.items():
        answered, right = (
            _with_interval(one, share, ".4f", ".3f") if one[f"{share}_interval"] else "none"
            for share in ("coverage", "accuracy")
        )
        if errors is not None:
            mean, *ends = cost_of_errors(one["confusion"], errors)
            right = with_interval(mean, (ends[0], ends[1]))
        print(f"{name:<14}{answered:<25}{right:<25}{_with_interval(one, 'cost', '.4g', '.4g')}")
    if classes is None:
        print(POINT_INTERVALS)
    else:
        _print_classes(measured, classes)


MOST_OF_LABEL = 12
"""Largest number of letters of a class in the heading of a column."""


class Classes(NamedTuple):
    """Labels of two classes, and the index of the positive one."""

    labels: Sequence[Any]
    positive: int


def _print_classes(measured: Mapping[str, Mapping[str, Any]], classes: Classes) -> None:
    """Print recall, specificity, and the share of misses, a line for each name."""
    from shortlist.results.class_shares import class_shares
    from shortlist.results.intervals import with_interval

    positive, other = (str(classes.labels[place]) for place in (classes.positive, 1 - classes.positive))
    short, also = (
        one if len(one) <= MOST_OF_LABEL else f"{one[:MOST_OF_LABEL]}…" for one in (positive, other)
    )
    lines: list[tuple[str, ...]] = [
        ("", f"recall of {short}", f"specificity ({also})", f"{short} answered {also}")
    ]
    for name, one in measured.items():
        found = {told.label: told for told in class_shares(one["confusion"], classes.labels)}
        figures = [
            getattr(found[label], what) if label in found else None
            for label, what in ((positive, "right"), (other, "right"), (positive, "wrong"))
        ]
        told = ("none" if one is None else with_interval(one[0], one[1:], ".4f", ".3f") for one in figures)
        lines.append((name, *told))
    widths = [14, *(max(25, *(len(line[place]) + 2 for line in lines)) for place in (1, 2))]
    for line in lines:
        print("".join(f"{text:<{width}}" for text, width in zip(line, [*widths, 0], strict=True)).rstrip())


def print_after_looking(n_rows: int) -> None:
    """Print a warning against taking the best of several points by their figures on the test rows."""
    print(
        f"If several points are looked at, the figures of the best of them on these {n_rows:,} rows are "
        "optimistic."
    )


def _with_interval(one: Mapping[str, Any], name: str, digits: str, of_ends: str) -> str:
    from shortlist.results.intervals import with_interval

    return with_interval(one[name], one[f"{name}_interval"], digits, of_ends)


INTERVALS = (
    "Intervals at 95 %: Wilson's; for balanced accuracy, from Wilson's for the recall of each class.",
    "p: McNemar's exact test on the same rows; a difference with p above 0.05 is within chance.",
)


@dataclasses.dataclass(frozen=True)
class OnSelectionRows:
    """Number of selection rows that each rule answers right."""

    right: dict[str, int]
    """Number of right rows by rule; the selection rows also chose the rules ``pruned`` and ``best_single``.
    """
    n_rows: int
    out_of_fold: bool
    """Whether the answers on the selection rows come from classifiers fitted without the row's fold."""
    best_single: str
    """Name of the best single classifier."""

    @property
    def heading(self) -> str:
        """Heading above the shares of right rows."""
        return "out of fold" if self.out_of_fold else "selection"

    def as_dict(self) -> dict[str, Any]:
        """Return the shares for JSON; ``full``, which the selection rows did not choose, has an interval."""
        facts: dict[str, Any] = {
            name: {"accuracy": right / self.n_rows, "n_right": right} for name, right in self.right.items()
        }
        facts["full"]["accuracy_interval"] = list(self._interval)
        return facts

    @property
    def _interval(self) -> "Interval":
        from shortlist.results.intervals import wilson_interval

        return wilson_interval(self.right["full"], self.n_rows)

    def sentences(self) -> list[str]:
        """Return sentences on the best single classifier, and on the shares as evidence."""
        low, high = self._interval
        shares = (
            f"Column {self.heading}: accuracy on the {self.n_rows:,} selection rows. These rows chose pruned "
            "and best single, so expect less of both on new rows. They did not choose full: 95 % interval "
            f"{low:.3f} to {high:.3f}."
        )
        return [f"Best single: {self.best_single}, chosen on the selection rows.", shares]


def print_measured(test: "Mapping[str, Measured]", chose: OnSelectionRows | None = None) -> None:
    """Print the results of rules on the test rows, one line each, with their shares on the selection rows.

    Intervals follow, and the differences of the other rules from the first rule.
    """
    from shortlist.ensembles.measured import NO_ANSWER
    from shortlist.report.page import Table

    rules, first = list(test.items()), next(iter(test))
    counts = {name: dataclasses.astuple(one.confusion) for name, one in rules if one.confusion is not None}
    left = any(one.unanswered for _, one in rules)
    priced = all(one.price is not None for _, one in rules)
    figures = [
        (
            _shown(name),
            str(one.size),
            f"{one.accuracy:.4f}",
            f"{one.balanced_accuracy:.4f}",
            *map(str, counts.get(name, ())),
            *((str(one.unanswered),) if left else ()),
            f"{one.price:g}" if priced else f"{one.ms_per_1000_rows:.1f}",
            *(() if chose is None else (f"{chose.right[name] / chose.n_rows:.4f}",)),
        )
        for name, one in rules
    ]
    cases, last = ("TP", "FN", "TN", "FP") if counts else (), "price" if priced else "ms/1000"
    apart = () if chose is None else (chose.heading,)
    head = (
        "on the test rows",
        "size",
        "accuracy",
        "balanced",
        *cases,
        *((NO_ANSWER,) if left else ()),
        last,
        *apart,
    )
    print("\n".join(Table("", head, tuple(figures)).lines()), end="\n\n")
    ends = [
        (
            _shown(name),
            *(
                f"{low:.3f} to {high:.3f}"
                for low, high in (one.accuracy_interval, one.balanced_accuracy_interval)
            ),
            "" if name == first else _difference(test[first].against(one)),
        )
        for name, one in rules
    ]
    head = ("95 % intervals", "accuracy", "balanced", f"against {_shown(first)}")
    print("\n".join(Table("", head, tuple(ends)).lines([True] * 4)))
    of_all = ["Price: of asking all members about a row."] if priced else []
    print_lines([*INTERVALS, *of_all, *([] if chose is None else chose.sentences())])


def one_answer_notes(fitted: str | None, test: str | None, *, who: str, rows: str) -> list[str]:
    """Return notes if all answers are of one class, on the selection rows or on the test rows.

    `fitted`, `test`: the only answered class on the selection rows, and on the test rows; None if there are
    several. `who`: name of the answering rule, such as ``"the selection"``. `rows`: words for the selection
    rows.
    """
    if fitted is not None and fitted == test:
        return [f"{who} gives no other answer than {fitted!r}, on the {rows} rows and on the test rows."]
    return [
        f"{who} gives no other answer than {answer!r} on the {name} rows."
        for answer, name in ((fitted, rows), (test, "test"))
        if answer is not None
    ]


def _shown(name: str) -> str:
    return name.replace("_", " ")


def _difference(difference: "Difference") -> str:
    """Return in words how many rows only the first rule, and only the second rule, answers right."""
    if not difference.only_first + difference.only_second:
        return "no row differs"
    verdict = "within chance" if difference.within_chance else "more than chance"
    return f"{difference.only_first} : {difference.only_second} rows, p {difference.p_value:.2g}, {verdict}"
