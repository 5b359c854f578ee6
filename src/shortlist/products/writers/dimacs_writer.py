"""Feature models as DIMACS clauses with names in comments."""

from shortlist.products.encodings.clauses import to_clauses
from shortlist.products.feature_models.model import FeatureModel
from shortlist.products.writers.written_model import WrittenModel, rewritten


def dimacs_model(model: FeatureModel) -> WrittenModel:
    """Return a model as DIMACS: features are variables 1 to n, auxiliary variables are marked with ``$``.

    Reading it back gives the same products, cut to the features; a tree becomes clauses, attributes are left
    out.

    Examples
    --------
    >>> from shortlist.products.feature_models.model import make_group, make_model
    >>> pair = make_model(["A", "B"], root=0, groups=[make_group(0, [1], "optional")])
    >>> print(dimacs_model(pair).text, end="")
    c 1 A
    c 2 B
    p cnf 2 2
    1 0
    -2 1 0
    """
    clauses = to_clauses(model)
    names = [
        f"c {i}{'$' if i - 1 in model.generated else ''} {_line(n)}" for i, n in enumerate(model.labels, 1)
    ]
    added = range(model.n_features + 1, clauses.n_variables + 1)
    names += [f"c {i}$ _X{i}" for i in added]
    lines = [" ".join(map(str, (*clause, 0))) for clause in clauses]
    header = f"p cnf {clauses.n_variables} {clauses.n_clauses}"
    notes = (
        *rewritten(len(model.groups), "group", "written as clauses"),
        *rewritten(len(added), "auxiliary variable", "added, with one value in each product"),
    )
    variables = {str(v): v for v in range(1, clauses.n_variables + 1)}
    return WrittenModel("\n".join([*names, header, *lines]) + "\n", variables, notes)


def _line(name: str) -> str:
    return " ".join(name.split())
