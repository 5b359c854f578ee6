"""Buy the measurements of a tumour in stages, and only for those patients who need them."""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from shortlist.multistage import MultiStageClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
costs = {"mean radius": 1, "mean texture": 2, "mean smoothness": 5, "mean concavity": 8, "worst area": 10}
X = X[list(costs)]
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

clf = MultiStageClassifier(feature_costs=costs, confidence=0.9, max_stages=3, random_state=0).fit(
    X_fit, y_fit
)
print(f"{len(clf.front_)} trade-offs, {clf.front_.proof.kind}; the chosen one:")
for number, stage in enumerate(clf.model_.stages, start=1):
    print(f"  stage {number}: {', '.join(X.columns[stage.bought])}")


def acquire(rows: np.ndarray, features: tuple[str, ...]) -> np.ndarray:
    """Measure some features of some patients."""
    print(f"measuring {', '.join(features)} of {len(rows)} patients")
    return X_new.iloc[rows][list(features)].to_numpy()


answer = clf.predict_on_demand(acquire, len(X_new))
answered = answer.labels != clf.reject_label_
print(
    f"answered {answered.mean():.0%} of the patients, {(answer.labels == y_new)[answered].mean():.1%} of them right"
)
print(f"mean cost {answer.decisions.costs.mean():.2f} instead of {sum(costs.values())}")
