# The public names, each once; shortlist._lazy reads this file too.

from shortlist.errors import AcquisitionError as AcquisitionError
from shortlist.multistage.estimators import MultiStageClassifier as MultiStageClassifier
from shortlist.multistage.holdout import StagedMeasure as StagedMeasure
from shortlist.multistage.holdout import StagedTable as StagedTable
from shortlist.multistage.holdout import stage_table as stage_table
from shortlist.multistage.next_steps import NextStep as NextStep
from shortlist.multistage.next_steps import next_step as next_step

# Saved models name these by this package; they are not exported.
from shortlist.multistage.predict.prediction import (
    FittedStage,  # noqa: F401
    StagedModel,  # noqa: F401
)
from shortlist.multistage.predict.prediction import OnDemand as OnDemand
from shortlist.multistage.presets import PRESETS as PRESETS
from shortlist.multistage.presets import Preset as Preset
from shortlist.multistage.presets import preset as preset
from shortlist.multistage.problem.costs import Attribute  # noqa: F401
from shortlist.multistage.problem.costs import FeatureCosts as FeatureCosts
from shortlist.multistage.problem.costs import feature_costs as feature_costs
from shortlist.multistage.problem.costs import read_costs as read_costs
from shortlist.multistage.problem.purchase_rules import PurchaseRules as PurchaseRules
from shortlist.multistage.problem.reject_rules import RejectRule as RejectRule
from shortlist.multistage.search.emsco import EmscoOptions as EmscoOptions
from shortlist.multistage.search.emsco import EmscoResult as EmscoResult
from shortlist.multistage.search.enumeration import EnumerationResult as EnumerationResult
from shortlist.multistage.search.stage_objectives import OBJECTIVES as OBJECTIVES
from shortlist.multistage.search.stage_objectives import StageProblem as StageProblem
from shortlist.multistage.subclassifiers.encoding import (
    Encoding,  # noqa: F401
    FeatureCode,  # noqa: F401
)
from shortlist.multistage.subclassifiers.foreign_subclassifiers import ForeignModel  # noqa: F401
from shortlist.multistage.subclassifiers.subclassifiers import LogisticModel  # noqa: F401
