"""Finding features by what people call them."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shortlist.errors import BadInputError
from shortlist.products.feature_models.model import FeatureModel


def plain(name: str) -> str:
    """Return a name without case, spaces and signs, as the same feature is often spelled in two files."""
    return _unsigned(name).casefold()


def _unsigned(name: str) -> str:
    return re.sub(r"[\W_]+", "", name) or name


@dataclass(frozen=True, eq=False)
class FeatureNames:
    """All the ways to name the features of one model; build with :func:`feature_names`."""

    model: FeatureModel
    exact: Mapping[str, int]
    loose: Mapping[str, int]
    repeated: frozenset[str]

    def find(self, name: str, *, repeats: bool = False) -> int | None:
        """Return the feature called `name`, or None.

        Names as written come first, then identifiers, then names that differ in spaces and signs only, then
        in case too, if exactly one feature fits. A name that several features bear is an error, unless
        `repeats`: then it is the first of them.
        """
        if name in self.repeated and not repeats:
            same = [i for i, other in enumerate(self.model.names) if other == name]
            ids = ", ".join(self.model.ids[i] for i in same)
            raise BadInputError(f"{len(same)} features are called {name!r}. Use one of their ids: {ids}.")
        found = self.exact.get(name)
        if found is None:
            found = self.loose.get(_unsigned(name), self.loose.get(plain(name)))
        return found

    def close_to(self, name: str) -> str:
        """Return a sentence with the names most like `name`, or with the number of features."""
        return suggestion(name, self.exact, f"The model has {self.model.n_features} features.")

    def find_all(self, names: Iterable[str], argument: str) -> list[int]:
        """Return the features called `names`; an unknown one is an error that suggests others."""
        found = []
        for name in names:
            feature = self.find(name)
            if feature is None:
                raise BadInputError(f"{argument} names no feature: {name!r}. {self.close_to(name)}")
            found.append(feature)
        return found


def feature_names(model: FeatureModel) -> FeatureNames:
    """Index the names of a model; takes time linear in its size.

    >>> from shortlist.products.feature_models.model import make_model
    >>> names = feature_names(make_model(["Web Server", "Pop-ups"], root=None))
    >>> names.find("webserver"), names.find("popups"), names.find("Flash")
    (0, 1, None)
    """
    exact = {identifier: i for i, identifier in enumerate(model.ids)}
    exact.update((label, i) for i, label in enumerate(model.labels))
    loose: dict[str, int] = {}
    for form in (plain, _unsigned):  # the stricter form wins where both lead somewhere
        counts = Counter(map(form, model.labels))
        loose |= {form(label): i for i, label in enumerate(model.labels) if counts[form(label)] == 1}
    repeated = frozenset(name for name, count in Counter(model.names).items() if count > 1)
    return FeatureNames(model, exact, loose, repeated)


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return ``Did you mean ...?`` with up to three of `known` that resemble `name`, else `otherwise`."""
    by_plain = {plain(other): other for other in known}
    close = difflib.get_close_matches(plain(name), by_plain, n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(repr(by_plain[c]) for c in close)}?" if close else otherwise
