"""Choose a few of thirty classifiers, with proof, and compare them with all thirty."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from shortlist.ensembles import ExactPruner, make_pool

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_fit, X_rest, y_fit, y_rest = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
X_val, X_test, y_val, y_test = train_test_split(
    X_rest, y_rest, test_size=0.3, stratify=y_rest, random_state=0
)

pool = make_pool(X_fit, y_fit, n_classifiers=30, random_state=0)
pruned = ExactPruner(pool, objective="balanced_accuracy", time_limit_s=60).fit(X_val, y_val)

print(
    f"{pruned.status_}: {pruned.selection_.sum()} of {len(pool)} classifiers, more than {pruned.threshold_} votes"
)
print(f"balanced accuracy {pruned.objective_value_:.4f}, no selection does better than {pruned.bound_:.4f}")
print(f"test accuracy {pruned.score(X_test, y_test):.4f}")
