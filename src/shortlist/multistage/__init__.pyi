# The public names, each once; shortlist._lazy reads this file too.

from shortlist.errors import AcquisitionError as AcquisitionError
from shortlist.multistage.answering import NextStep
from shortlist.multistage.answering import next_step as next_step
from shortlist.multistage.estimators import MultiStageClassifier as MultiStageClassifier

# Saved models name these by this package; they are not exported.
from shortlist.multistage.holdout import StagedMeasure, StagedTable
from shortlist.multistage.predict.prediction import FittedStage, OnDemand, StagedModel
from shortlist.multistage.presets import Preset
from shortlist.multistage.presets import preset as preset
from shortlist.multistage.problem.cost_files import read_costs as read_costs
from shortlist.multistage.problem.costs import CostAttribute as Attribute
from shortlist.multistage.problem.costs import feature_costs as feature_costs
from shortlist.multistage.problem.error_prices import ErrorPrices
from shortlist.multistage.problem.reject_rules import RejectRule
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.multistage.subclassifiers.encoding import Encoding, FeatureCode
from shortlist.multistage.subclassifiers.foreign_subclassifiers import ForeignModel
from shortlist.multistage.subclassifiers.logistic_fits import LogisticModel
