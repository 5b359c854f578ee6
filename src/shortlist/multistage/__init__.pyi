# The public names, each once; shortlist._lazy reads this file too.

from shortlist.errors import AcquisitionError as AcquisitionError
from shortlist.multistage.estimators import MultiStageClassifier as MultiStageClassifier

# Saved models name these by this package; they are not exported.
from shortlist.multistage.holdout import (
    StagedMeasure,  # noqa: F401
    StagedTable,  # noqa: F401
)
from shortlist.multistage.next_steps import NextStep  # noqa: F401
from shortlist.multistage.next_steps import next_step as next_step
from shortlist.multistage.predict.prediction import (
    FittedStage,  # noqa: F401
    OnDemand,  # noqa: F401
    StagedModel,  # noqa: F401
)
from shortlist.multistage.presets import Preset  # noqa: F401
from shortlist.multistage.presets import preset as preset
from shortlist.multistage.problem.costs import Attribute  # noqa: F401
from shortlist.multistage.problem.costs import feature_costs as feature_costs
from shortlist.multistage.problem.costs import read_costs as read_costs
from shortlist.multistage.problem.purchase_rules import PurchaseRules  # noqa: F401
from shortlist.multistage.problem.reject_rules import RejectRule  # noqa: F401
from shortlist.multistage.search.emsco import EmscoOptions  # noqa: F401
from shortlist.multistage.search.stage_objectives import StageProblem  # noqa: F401
from shortlist.multistage.subclassifiers.encoding import (
    Encoding,  # noqa: F401
    FeatureCode,  # noqa: F401
)
from shortlist.multistage.subclassifiers.foreign_subclassifiers import ForeignModel  # noqa: F401
from shortlist.multistage.subclassifiers.subclassifiers import LogisticModel  # noqa: F401
