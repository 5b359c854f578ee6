"""Choose a few of your own fitted models, with proof."""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from shortlist.ensembles import ExactPruner

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_fit, X_rest, y_fit, y_rest = train_test_split(X, y, test_size=0.6, stratify=y, random_state=0)
X_val, X_test, y_val, y_test = train_test_split(
    X_rest, y_rest, test_size=0.4, stratify=y_rest, random_state=0
)

models = {
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "forest": RandomForestClassifier(20, random_state=0),
    "extra": ExtraTreesClassifier(20, random_state=0),
    "bayes": GaussianNB(),
    "near": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "linear": make_pipeline(StandardScaler(), LogisticRegression()),
}
for model in models.values():
    model.fit(X_fit, y_fit)

# rows that no model was fitted on choose among them
pruned = ExactPruner(models, max_size=3).fit(X_val, y_val)
chosen = [name for name, kept in zip(models, pruned.selection_, strict=True) if kept]
print(f"{pruned.status_}: {', '.join(chosen)}, log loss {pruned.objective_value_:.4f} on {len(y_val)} rows")
print(f"no choice of at most three has less than {pruned.bound_:.4f}")
print(f"on {len(y_test)} new rows: right on {pruned.score(X_test, y_test):.1%}")
