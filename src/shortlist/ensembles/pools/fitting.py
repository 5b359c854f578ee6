"""Fitting of a pool's classifiers: once, again on all rows, or without each fold; and loading of pools."""

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from shortlist._threads import limited_threads
from shortlist._validation import as_count, as_seed
from shortlist.arrays import Labels
from shortlist.ensembles.pools.encoder import (
    NO_FOLDED_COLUMNS,
    FoldedColumns,
    TableEncoder,
    as_classes,
    as_frame,
    fit_table,
)
from shortlist.ensembles.pools.families import FAMILIES, Family
from shortlist.ensembles.pools.members import Member, as_pool
from shortlist.ensembles.pools.plain import OF_TABLES, PLAIN, USUAL, PlainBoosting, check_plain, with_plain
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool, named_columns, numbered
from shortlist.errors import BadInputError, ShortlistError
from shortlist.files import load_object
from shortlist.runs import NO_STUDY, Cancellation, Finished, Report, Study, Unit, Work, run_units, silent
from shortlist.runs.budget import seconds_now
from shortlist.runs.records import as_settings, digest_of_arrays, packed_object, unpacked_object, versions
from shortlist.tables.splits import N_FOLDS, deal_folds


def make_pool(
    X: Any,
    y: ArrayLike,
    *,
    n_classifiers: int = 100,
    plain: Sequence[str] = USUAL,
    random_state: int | None = 0,
    n_jobs: int | None = 1,
    report: Report = silent,
    cancellation: Cancellation | None = None,
    study: Study = NO_STUDY,
) -> Pool:
    """Return a pool of fitted classifiers: ten families in equal numbers, and a few plain classifiers.

    The families take turns, in the order of :data:`shortlist.ensembles.pools.families.FAMILIES`; Section 5.1
    of :cite:t:`Bastos2022` requires ten and does not name them. Each classifier of a family draws its
    parameters, rows and columns. Every fifth classifier is plain, until there is one for each name in
    `plain`; a plain classifier has fixed settings, all rows and all columns. Classifier i does not depend on
    `n_classifiers` and `n_jobs`, and a drawn classifier does not depend on `plain`.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
        Numbers, truth values and words, with gaps; see :func:`shortlist.ensembles.pools.encoder.fit_table`.
    y : array-like of shape (n_samples,)
        At least two classes, labels of any type.
    n_classifiers : int, default=100
        Number of classifiers in all; at most one in five is plain.
    plain : sequence of str, default=USUAL
        Names of plain classifiers in :data:`shortlist.ensembles.pools.plain.PLAIN`; an empty list gives the
        pool of the paper. ``"lightgbm"`` and ``"xgboost"`` need these packages.
    random_state : int or None, default=0
        Seed; None takes a new seed each time.
    n_jobs : int or None, default=1
        Workers, in joblib's sense: threads, unless an enclosing ``joblib.parallel_config`` names a backend.
    report, cancellation : optional
        Progress events, one per classifier, and a way to stop.
    study : Study, optional
        Keeps every fitted classifier, signed. Classifiers that this user's Shortlist wrote there on this
        machine are not fitted again.

    Raises
    ------
    BadInputError
        If `X` or `y` cannot be used, their lengths differ, `y` has one class, a parameter is out of range, or
        the study belongs to other rows or another seed.
    MissingDependencyError
        If a plain classifier needs a package that is not installed.
    ShortlistError
        If the work was cancelled before every classifier was fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> pool = make_pool(*load_iris(return_X_y=True), n_classifiers=5)
    >>> pool.names[2:]
    ('naive-bayes-1', 'nearest-neighbours-1', 'plain-boosting')
    """
    n = as_count(n_classifiers, "n_classifiers")
    seed = None if random_state is None else as_seed(random_state, "random_state")
    families = with_plain(list(FAMILIES), check_plain(plain), n)
    names = [
        family if family in PLAIN else name for name, family in zip(numbered(families), families, strict=True)
    ]
    work = Work(n_jobs, study, report, cancellation or Cancellation())
    return members_called(X, y, names, seed=seed, work=work)


def members_called(
    X: Any, y: ArrayLike, names: Sequence[str], *, seed: int | None, work: Work | None = None
) -> Pool:
    """Return the classifiers with these names, fitted as :func:`make_pool` fits them in any pool.

    `X`, `y`: as for :func:`make_pool`. `seed`: the `random_state` of :func:`make_pool`. `work`: workers,
    progress, cancellation, and the study that keeps fitted classifiers.

    >>> from sklearn.datasets import load_iris
    >>> members_called(*load_iris(return_X_y=True), ["naive-bayes-2", "plain-logistic"], seed=0).families
    ('naive-bayes', 'plain-logistic')
    """
    rows = encode_rows(X, y)
    work = work or Work()
    root = np.random.SeedSequence(seed)
    drawn = [_drawn(name, root) for name in names]
    units = [
        Unit(
            name, fit_member, (family, rows.encoded, rows.indices, rows.classes, stream, rows.encoder.folded)
        )
        for name, (family, stream) in zip(names, drawn, strict=True)
    ]
    bind_rows(work.study, rows, {"the classes": rows.classes, "random_state": seed})
    members = fit_all(units, work, stage="fitting classifiers")
    if len(members) < len(names):
        raise ShortlistError(
            f"fitting was stopped after {len(members)} of {len(names)} classifiers. Run it again, or with a "
            "smaller `n_classifiers`."
        )
    return rows.pool_of(members, names, [family for family, _ in drawn])


def drawn_pool(rows: "EncodedRows", names: Sequence[str], *, seed: int | None) -> Pool:
    """Return the classifiers with these names, unfitted, with drawn parameters and columns."""
    root, members, families = np.random.SeedSequence(seed), [], []
    for name in names:
        family, stream = _drawn(name, root)
        member, _ = draw_member(family, rows.encoded, rows.indices, rows.classes, stream, rows.encoder.folded)
        members.append(member)
        families.append(family)
    return rows.pool_of(members, names, families)


class EncodedRows(NamedTuple):
    """Rows of a table after the preprocessing of a pool, so that the table is encoded only once."""

    encoder: TableEncoder
    encoded: NDArray[np.float64]
    """Encoded table, ``(n_rows, n_columns)``."""
    classes: Labels
    """The classes, sorted, ``(n_classes,)``."""
    indices: NDArray[np.intp]
    """Index of the class of each row, ``(n_rows,)``."""
    n_features: int
    feature_names: tuple[str, ...] | None

    def some(self, places: NDArray[np.intp]) -> "EncodedRows":
        """Return the rows with these indices."""
        return self._replace(encoded=self.encoded[places], indices=self.indices[places])

    def pool_of(self, members: Sequence[Member], names: Sequence[str], families: Sequence[str]) -> Pool:
        """Return a pool of these members, fitted or not, with the encoder and classes of these rows."""
        return Pool(
            tuple(members), self.classes, tuple(names), tuple(families), self.encoder, None, self.n_features,
            self.feature_names,
        )  # fmt: skip


def encode_rows(X: Any, y: ArrayLike) -> EncodedRows:
    """Return a table and its classes in encoded form.

    Raises BadInputError if the table or the classes cannot be used, or their lengths differ.
    """
    frame = as_frame(X)
    classes, indices = as_classes(y)
    if len(frame) != len(indices):
        raise BadInputError(f"X and y must have one entry per row, got {len(frame)} and {len(indices)} rows.")
    encoder = fit_table(X)
    return EncodedRows(encoder, encoder.transform(X), classes, indices, frame.shape[1], named_columns(X))


def bind_rows(study: Study, rows: EncodedRows, facts: Mapping[str, Any]) -> None:
    """Bind a study that keeps fits to the rows, the versions and other facts.

    Using the study later with other rows, versions or facts raises an error.
    """
    if study.keeps:
        digest = digest_of_arrays([rows.encoded, rows.indices])
        study.bind({"the rows": digest, **as_settings({**facts, "the versions": versions()})})


def _drawn(name: str, root: np.random.SeedSequence) -> tuple[str, np.random.SeedSequence]:
    """Return the family and the random stream of a classifier.

    The stream of the j-th drawn classifier is the j-th child of the seed.
    """
    if name in PLAIN:
        family, key = name, 2**32 - 1 - list(PLAIN).index(name)
    else:
        family, _, number = name.rpartition("-")
        key = (int(number) - 1) * len(FAMILIES) + list(FAMILIES).index(family) if family in FAMILIES else 0
        key = key if family in FAMILIES else 2**31 + int(number)
    return family, np.random.SeedSequence(root.entropy, spawn_key=(key,))


LONG_FITS_S = 5.0
"""Estimated seconds of all fits from which on processes are used; starting processes takes two seconds, as
they import scikit-learn.
"""


def fit_all(
    units: Sequence[Unit], work: Work, *, stage: str, long_s: float = LONG_FITS_S
) -> tuple[Member, ...]:
    """Return the fitted classifiers; short fits are made in this process, long ones by the workers.

    Fewer classifiers are returned if the work is stopped. One classifier of each family is fitted first, to
    estimate the total time. Several threads take longer than one thread, as fits of small classifiers hold
    Python's lock; processes take time to start. The classifiers are the same in all cases.
    """
    parts = kept_members if work.study.keeps else None
    known = own_members(work.study) if work.study.keeps else {}
    if work.workers not in (None, 1) and len(units) > 2 * len(FAMILIES):
        start = seconds_now()
        drawn = [unit for unit in units if unit.key not in PLAIN]  # the others take longer
        with calm_fits():
            some = run_units(
                drawn[: len(FAMILIES)], replace(work, workers=1, report=silent), stage=stage, parts=parts,
                known=known,
            )  # fmt: skip
            known |= dict(some)
        each = (seconds_now() - start) / len(FAMILIES)
        if each * (len(units) - len(known)) <= long_s:
            work = replace(work, workers=1)
    with calm_fits():
        fitted = run_units(units, work, stage=stage, parts=parts, known=known)
        return tuple(member for _, member in fitted)


def load_pool(path: str | Path, *, trust: bool = False) -> Pool:
    """Return the pool in a file that :func:`shortlist.files.dump_object` or joblib wrote.

    Parameters
    ----------
    path : str or Path
        A file with anything that ``as_pool`` takes.
    trust : bool, default=False
        Whether to run the code in a file that this user did not write on this machine.

    Raises
    ------
    UntrustedFileError
        If this user did not write the file on this machine, and `trust` is False.
    BadInputError
        If the file cannot be read, or does not hold a pool.
    """
    try:
        return as_pool(load_object(path, trust=trust))
    except BadInputError as error:
        if str(path) in str(error):
            raise
        raise BadInputError(f"{path} does not hold a pool: {error}") from None


def kept_members(name: str, member: Any) -> list[Finished]:
    """Return a fitted classifier in packed form, with its name, as a study keeps it."""
    return [Finished(name, packed_object(member))]


def own_members(study: Study) -> dict[str, Any]:
    """Return the classifiers of a study, by name, that this user's own Shortlist wrote on this machine."""
    members = {name: unpacked_object(content) for name, content in study.results().items()}
    return {name: member for name, member in members.items() if member is not None}


@contextlib.contextmanager
def calm_fits() -> Iterator[None]:
    """Enter a context in which fits use one thread each, so that workers share the cores, and do not warn.

    Number of threads and warnings are settings of the process: all fitting threads must run inside one
    context.
    """
    with warnings.catch_warnings(), limited_threads(1):
        # the number of iterations is one of the random parameters: stopping early is meant
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def fit_member(  # noqa: PLR0917  # units pass arguments by place
    family: str,
    X: NDArray[np.float64],
    indices: NDArray[np.intp],
    classes: Labels,
    seeds: np.random.SeedSequence,
    folded: FoldedColumns = NO_FOLDED_COLUMNS,
) -> Member:
    """Fit one classifier of a family on its own rows and columns of standardised data.

    Rows are drawn with at least two of each class. Columns that are constant in the drawn rows are left out,
    except for families that take all columns. If no column varies, the member's probabilities are the shares
    of the classes.
    """
    member, rows = draw_member(family, X, indices, classes, seeds, folded)
    assert member.columns is not None, "classifiers that are fitted here know their columns"
    with calm_fits():
        member.estimator.fit(X[np.ix_(rows, member.columns)], indices[rows])
    return member


def draw_member(  # noqa: PLR0917  # as of fit_member
    name: str,
    X: NDArray[np.float64],
    indices: NDArray[np.intp],
    classes: Labels,
    seeds: np.random.SeedSequence,
    folded: FoldedColumns = NO_FOLDED_COLUMNS,
) -> tuple[Member, NDArray[np.intp]]:
    """Return a classifier with drawn parameters and columns, unfitted, and the indices of its drawn rows."""
    from sklearn.dummy import DummyClassifier

    family = FAMILY_OF[name]
    rng = np.random.default_rng(seeds)
    rows = draw_stratified(family, indices, rng)
    columns = columns_that_vary(X, rows, draw_columns(family, X.shape[1], rng))
    if not len(columns):
        return Member(DummyClassifier(strategy="prior"), classes, np.array([0])), rows
    if family.whole:
        columns = np.arange(X.shape[1])
    estimator = family.build(rng, len(rows), len(columns))
    if isinstance(estimator, PlainBoosting):
        estimator.set_params(folded=folded)
    return Member(estimator, classes, columns), rows


def columns_that_vary(
    X: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the columns that are not constant in the given rows, as indices."""
    some = rows[:SOME_ROWS]
    varies = np.ptp(X[np.ix_(some, columns)], axis=0) > 0
    others = columns[~varies]  # most vary in some of the rows, which is faster to see
    varies[~varies] = np.ptp(X[np.ix_(rows, others)], axis=0) > 0
    return np.asarray(columns[varies])


SOME_ROWS = 200
"""Number of rows that are compared first to find the columns that vary."""


def draw_stratified(family: Family, indices: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return indices of rows drawn within each class, so that every class keeps its share.

    At least two rows of every class are returned; a single row is repeated.
    """
    share = rng.uniform(*family.rows)
    share = min(share, family.most_rows / len(indices))
    drawn = []
    for index in np.unique(indices):
        of_class = np.flatnonzero(indices == index)
        size = max(2, round(share * len(of_class)))
        replace = family.replace or size > len(of_class)
        drawn.append(rng.choice(of_class, size=size, replace=replace))
    return np.asarray(rng.permutation(np.concatenate(drawn)), dtype=np.intp)


def draw_columns(family: Family, n_columns: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return indices of columns drawn without replacement, sorted, at least one."""
    size = max(1, round(rng.uniform(*family.columns) * n_columns))
    return np.asarray(np.sort(rng.choice(n_columns, size=size, replace=False)), dtype=np.intp)


FAMILY_OF = {**FAMILIES, **PLAIN, **OF_TABLES}
"""Families of drawn classifiers, and plain classifiers, by name."""

AT_MOST_ROWS = ("batch_size", "n_neighbors", "nystroem__n_components")
"""Names of parameters that must not exceed the number of rows."""


def refit_members(
    pool: Pool,
    X: Any,
    y: Labels,
    *,
    seed: int = 0,
    n_jobs: int | None = 1,
    report: Report = silent,
    encoded: NDArray[np.float64] | None = None,
) -> Pool:
    """Return the same classifiers fitted again on all these rows, with unchanged parameters and columns.

    Takes the time of the first fit, times the ratio of the numbers of rows.

    `pool`: members fitted by :func:`shortlist.ensembles.make_pool`; the preprocessing of the pool is
    unchanged. `X`, ``(n_samples, n_features)``: rows with the columns that the pool was fitted on. `y`,
    ``(n_samples,)``: classes of the rows, each class of the pool at least once. `seed`: seed of the rows
    drawn for a family with a limited number of rows. `encoded`: the rows after the pool's preprocessing, if
    known.

    >>> from sklearn.datasets import load_iris
    >>> from shortlist.ensembles import make_pool
    >>> X, y = load_iris(return_X_y=True)
    >>> again = refit_members(make_pool(X[::2], y[::2], n_classifiers=2), X, y)
    >>> again.names
    ('logistic-regression-1', 'decision-tree-1')
    """
    assert pool.preprocessor is not None, "pools that are fitted here prepare their rows"
    encoded = pool.preprocessor.transform(X) if encoded is None else encoded
    indices = np.searchsorted(pool.classes, y)
    once = {id(member): place for place, member in reversed(list(enumerate(pool.classifiers)))}
    places = sorted(once.values())  # the others are copies
    units = _refits(pool, places, (encoded, indices, seed))
    again = dict(zip(places, fit_all(units, Work(n_jobs, report=report), stage=REFITTING), strict=True))
    return replace(pool, classifiers=tuple(again[once[id(member)]] for member in pool.classifiers))


REFITTING = "fitting the members again"


def _refits(pool: Pool, places: Sequence[int], rows: tuple[Any, ...]) -> list[Unit]:
    """Return the work units that fit members of a pool again.

    A unit holds an unfitted copy of a member, which is smaller to send to a worker.
    """
    members = [(pool.names[place], pool.classifiers[place], pool.families[place]) for place in places]
    return [
        Unit(name, refit_member, (replace(member, estimator=clone(member.estimator)), family, *rows))
        for name, member, family in members
    ]


def refit_member(
    member: Member, family: str, encoded: NDArray[np.float64], indices: NDArray[np.intp], seed: int
) -> Member:
    """Return a classifier fitted on all of these rows, or on as many drawn rows as its family takes.

    `member`: classifier whose parameters and columns are used; columns that do not vary in these rows are
    left out, unless no column varies or the family takes all columns. `family`: a name in :data:`FAMILY_OF`.
    `encoded`, ``(n_samples, n_columns)``: rows after the preprocessing of the pool. `indices`,
    ``(n_samples,)``: class indices of the rows. `seed`: seed of the drawn rows, and of their order.
    """
    assert member.columns is not None, "classifiers that are fitted here know their columns"
    every = FAMILY_OF[family]._replace(replace=False, rows=(1.0, 1.0))
    rows = draw_stratified(every, indices, np.random.default_rng(seed))
    varying = columns_that_vary(encoded, rows, member.columns)
    columns = varying if len(varying) and not every.whole else member.columns
    estimator = clone(member.estimator)
    given = estimator.get_params()
    estimator.set_params(**{name: min(given[name], len(rows)) for name in AT_MOST_ROWS if name in given})
    with calm_fits():
        estimator.fit(encoded[np.ix_(rows, columns)], indices[rows])
    return Member(estimator, member.classes_, columns)


def cross_fit(
    pool: Pool,
    X: Any,
    y: ArrayLike,
    *,
    folds: int | NDArray[np.int8] = N_FOLDS,
    random_state: int = 0,
    n_jobs: int | None = 1,
    report: Report = silent,
    cancellation: Cancellation | None = None,
    study: Study = NO_STUDY,
) -> CrossFittedPool:
    """Return a pool whose classifiers are also fitted without each fold, on the rows of the other folds.

    Each classifier keeps its parameters and columns, and is fitted on all rows of the other folds, or on as
    many drawn rows as its family takes. Folds are stratified by class. If a class has a single row, this row
    is in no fold, and is always used for fitting. The preprocessing is that of the pool: medians, scales and
    categories are computed from all rows, without their classes. Raises BadInputError if no class has two
    rows, lengths differ, or a parameter is out of range. Raises ShortlistError if the work was cancelled
    before every classifier was fitted.

    Takes the time of one fit of the pool for each fold.

    `pool`: result of :func:`shortlist.ensembles.make_pool` on these rows. `X`: rows, ``(n_samples,
    n_features)``. `folds`: number of folds, at least 2, and at most the number of rows. Or the fold of every
    row, from 0, and -1 for rows that are always used for fitting, see
    :func:`shortlist.tables.splits.deal_folds`. `study`: keeps every fitted classifier, signed, with a part
    for each fold.

    >>> from sklearn.datasets import load_iris
    >>> from shortlist.ensembles import make_pool
    >>> X, y = load_iris(return_X_y=True)
    >>> crossed = cross_fit(make_pool(X, y, n_classifiers=2), X, y, folds=3)
    >>> len(crossed.without_fold), np.bincount(crossed.fold_of).tolist()
    (3, [50, 50, 50])
    """
    assert pool.preprocessor is not None, "pools that are fitted here prepare their rows"
    n_wanted = as_count(folds, "folds", at_least=2) if isinstance(folds, int) else 0
    seed = as_seed(random_state, "random_state")
    classes, indices = as_classes(y)
    encoded = pool.preprocessor.transform(X)
    if len(encoded) != len(indices):
        raise BadInputError(
            f"X and y must have one entry per row, got {len(encoded)} and {len(indices)} rows."
        )
    places = np.searchsorted(pool.classes, classes)[indices]
    fold_of = deal_folds(places, n_wanted, seed) if isinstance(folds, int) else folds
    rows = EncodedRows(pool.preprocessor, encoded, pool.classes, places, 0, None)
    work = Work(n_jobs, study, report, cancellation or Cancellation())
    return cross_fit_encoded(pool, rows, fold_of, seed=seed, work=work)


def cross_fit_encoded(
    pool: Pool, rows: EncodedRows, fold_of: NDArray[np.int8], *, seed: int, work: Work
) -> CrossFittedPool:
    """Return a cross-fitted pool from encoded rows, see :func:`cross_fit`.

    `pool` may be unfitted. Raises ShortlistError as :func:`cross_fit` does.
    """
    n = int(fold_of.max()) + 1
    without = []
    for fold in range(n):
        kept = rows.some(np.flatnonzero(fold_of != fold))
        part = work.study.part(f"fold {fold + 1} of {n}")
        bind_rows(part, kept, {"random_state": seed})
        fitted = fit_encoded(
            pool, kept, seed=seed, work=replace(work, study=part), stage=f"fitting fold {fold + 1} of {n}"
        )
        if len(fitted) < len(pool):
            raise ShortlistError(
                f"fitting was stopped in fold {fold + 1} of {n}. Run it again, with fewer classifiers, or "
                "with `pruning_rows='held-out'`, which fits each of them once."
            )
        without.append(replace(pool, classifiers=fitted))
    return CrossFittedPool(pool, tuple(without), fold_of, rows.encoded)


def fit_encoded(pool: Pool, rows: EncodedRows, *, seed: int, work: Work, stage: str) -> tuple[Member, ...]:
    """Return the classifiers of a pool, each fitted on all of these rows; fewer if the work is stopped."""
    units = _refits(pool, range(len(pool)), (rows.encoded, rows.indices, seed))
    return fit_all(units, work, stage=stage)
