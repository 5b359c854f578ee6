"""Buy measurements and the classifiers that read them together, in stages: each is paid once."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from shortlist.multistage import MultiStageClassifier, feature_costs

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
measurements = {"mean texture": 2, "mean smoothness": 5, "mean concavity": 8, "worst area": 10}
X_members, X_rest, y_members, y_rest = train_test_split(X, y, test_size=0.6, stratify=y, random_state=0)

# classifiers that somebody runs and charges for, each with the measurements that it has to be shown
needs = {
    "quick": ["mean texture", "mean smoothness"],
    "vectors": ["mean texture", "mean concavity"],
    "forest": [*measurements],
}
calls = {"quick": 0.1, "vectors": 0.5, "forest": 3}
members = {
    "quick": GaussianNB(),
    "vectors": make_pipeline(StandardScaler(), SVC()),
    "forest": RandomForestClassifier(30, random_state=0),
}
for name, member in members.items():
    member.fit(X_members[needs[name]], y_members)


def ask(name: str, rows: pd.DataFrame) -> np.ndarray:
    """Return how sure a member is of the second class, on a scale of its own."""
    seen, member = rows[needs[name]], members[name]
    return member.decision_function(seen) if name == "vectors" else member.predict_proba(seen)[:, 1]


# rows that fitted no member: their measurements and what the members answer are the features
table = X_rest[list(measurements)].assign(**{name: ask(name, X_rest) for name in members})
costs = feature_costs(
    measurements | calls,
    list(table.columns),
    needs=needs,
)
T_fit, T_new, y_fit, y_new = train_test_split(table, y_rest, test_size=0.4, stratify=y_rest, random_state=0)
clf = MultiStageClassifier(
    feature_costs=costs, confidence=0.9, max_stages=3, removal=True, random_state=0
).fit(T_fit, y_fit)
print(f"{len(clf.front_)} trade-offs, {clf.front_.proof.kind}; the chosen one:")
paid = 0.0
for number, stage in enumerate(clf.model_.stages, start=1):
    price = stage.price / costs.scale
    print(f"  stage {number}, {price - paid:g} more: {', '.join(table.columns[stage.bought])}")
    paid = price
report = clf.decision_report(T_new)
answered = ~report["rejected"]
right = (report["label"] == y_new)[answered].mean()
print(f"answered {answered.mean():.0%} of the new rows, {right:.1%} of them right")
print(f"mean cost {report['cost'].mean():.2f}; everything costs {costs.total / costs.scale:g}")
