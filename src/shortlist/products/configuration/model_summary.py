"""What a feature model says about its products: core, dead, and how many there are."""

from dataclasses import dataclass

from shortlist.logic.sat import SearchStoppedError, backbone
from shortlist.products.configuration.feasibility import NOT_TOLD_APART, check_feasibility
from shortlist.products.encodings.clauses import to_clauses
from shortlist.products.feature_models.model import FeatureModel
from shortlist.runs.budget import Budget

MOST_UNDECIDED = 2_000
"""Products are not counted by default where more features than this are neither core nor dead."""

USUAL_NODES = 100_000
"""The default budget of the diagram."""


@dataclass(frozen=True)
class Summary:
    """What every product shares, and how many products there are."""

    satisfiable: bool | None
    """Whether there is a product; None if the budget ended before that, or what all share, was known."""
    core: tuple[int, ...] = ()
    dead: tuple[int, ...] = ()
    """Features, from 0, that every product has, and that none has; empty without a product."""
    n_products: int | None = None
    """The exact number of products; None where it was not counted."""
    uncounted: str = ""
    """Why not."""
    conflict: tuple[str, ...] = ()
    """Without a product: rules that contradict each other, none of which can be left out."""


def summarise(model: FeatureModel, *, max_nodes: int | None = None, budget: Budget | None = None) -> Summary:
    """Find core and dead features, and count the products.

    Raises BadInputError if a linear constraint of the model needs too many clauses.

    `model`: what to look at. No integer program is solved, and no solver of such is imported. `max_nodes`:
    budget of the diagram that counts; 0 for none. Default: :data:`USUAL_NODES`, or none where more than
    :data:`MOST_UNDECIDED` features are open. `budget`: when it ends, what is not known by then is left out.

    Examples
    --------
    >>> from shortlist.products.feature_models.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "or")])
    >>> summary = summarise(shop)
    >>> summary.core, summary.dead, summary.n_products
    ((0,), (), 3)
    """
    clauses = to_clauses(model)
    budget = budget or Budget()
    try:
        shared = backbone(clauses, budget)
    except SearchStoppedError:
        return Summary(satisfiable=None, uncounted=_out_of_time(budget))
    if shared is None:
        conflict = check_feasibility(model, budget=budget).conflict or (NOT_TOLD_APART,)
        return Summary(satisfiable=False, n_products=0, conflict=conflict)
    core = tuple(v - 1 for v in shared if 0 < v <= model.n_features)
    dead = tuple(-v - 1 for v in shared if -model.n_features <= v < 0)
    n_open = model.n_features - len(core) - len(dead)
    if max_nodes is None and n_open > MOST_UNDECIDED:
        reason = f"{n_open:,} features are open, so a diagram is not tried unasked; pass `max_nodes=1000000`"
        return Summary(satisfiable=True, core=core, dead=dead, uncounted=reason)
    if max_nodes == 0:
        return Summary(satisfiable=True, core=core, dead=dead, uncounted="no nodes to count with")
    from shortlist.logic.compilation import compile_diagram

    most = USUAL_NODES if max_nodes is None else max_nodes
    units = clauses.with_units(shared)
    diagram = compile_diagram(units, max_nodes=most, n_starts=4, budget=budget)
    if diagram is None:
        reason = f"no variable order gave a diagram within {most:,} nodes"
        reason = _out_of_time(budget) if budget.stopped else reason
        return Summary(satisfiable=True, core=core, dead=dead, uncounted=reason)
    return Summary(satisfiable=True, core=core, dead=dead, n_products=diagram.n_models)


def _out_of_time(budget: Budget) -> str:
    return f"ended before that was known: {budget.limit_text}"
