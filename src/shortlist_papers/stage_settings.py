"""Tables 2 to 5 of :cite:t:`Hamilton2022`: cost classes and parameters of each set, beside ours."""

from shortlist.multistage.presets import SYNTHETIC30, preset
from shortlist_papers.paper import ResultTable, Rows

PARAMETERS = ("mutation", "recombination", "elitism", "population", "beta", "confidence")

PRINTED: dict[str, tuple[int, tuple[int, ...] | None, tuple[float, ...]]] = {
    "heart": (2, (1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 1, 1), (0.075, 0.75, 0.2, 300, 2, 0.75)),
    "pima": (3, (1, 3, 2, 2, 3, 2, 2, 1), (0.075, 0.8, 0.2, 300, 2, 0.65)),
    SYNTHETIC30: (4, None, (0.05, 0.8, 0.2, 300, 2.5, 0.65)),
    "credit": (5, (2, 2, 2, 1, 2, 1, 2, 3, 1, 2, 1, 1, 1, 2), (0.075, 0.8, 0.2, 300, 2.5, 0.75)),
}
"""By set: the number of its table, cost classes of the features in its order, and parameters."""


def settings_tables() -> list[ResultTable]:
    """Return the four tables."""
    return [_settings(name) for name in PRINTED]


def _settings(name: str) -> ResultTable:
    number, classes, printed = PRINTED[name]
    ours = preset(name)
    own = {one: getattr(ours.options, one, ours.confidence) for one in PARAMETERS}
    found: Rows = [
        {"what": parameter, "here": own[parameter], "paper": value}
        for parameter, value in zip(PARAMETERS, printed, strict=True)
    ]
    found += [
        {"what": f"cost class of {feature}", "here": cost_class, "paper": theirs}
        for (feature, cost_class), theirs in zip(
            ours.cost_classes.items(), classes or (None,) * len(ours.cost_classes), strict=True
        )
    ]
    return ResultTable(
        f"table-{number}", f"Table {number}: parameters and cost classes, {name}", found,
        f"Costs are read as {ours.scaling}."
        + ("" if classes else " The paper gives the rule of the classes, and not the classes."),
    )  # fmt: skip
