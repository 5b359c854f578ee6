# The public names, each once; shortlist._lazy reads this file too.

from shortlist.errors import AcquisitionError as AcquisitionError
from shortlist.multistage.estimators import MultiStageClassifier as MultiStageClassifier
from shortlist.multistage.holdout import StagedMeasure as StagedMeasure
from shortlist.multistage.holdout import StagedTable as StagedTable
from shortlist.multistage.holdout import stage_table as stage_table
from shortlist.multistage.predict.prediction import OnDemand as OnDemand
from shortlist.multistage.presets import PRESETS as PRESETS
from shortlist.multistage.presets import Preset as Preset
from shortlist.multistage.presets import preset as preset
from shortlist.multistage.presets import synthetic30 as synthetic30
from shortlist.multistage.problem.costs import FeatureCosts as FeatureCosts
from shortlist.multistage.problem.costs import feature_costs as feature_costs
from shortlist.multistage.problem.costs import read_costs as read_costs
from shortlist.multistage.problem.reject_rules import RejectRule as RejectRule
from shortlist.multistage.problem.stages import compress as compress
from shortlist.multistage.problem.stages import has_gaps as has_gaps
from shortlist.multistage.problem.stages import n_ordered_partitions as n_ordered_partitions
from shortlist.multistage.problem.stages import space_size as space_size
from shortlist.multistage.search.emsco import EmscoOptions as EmscoOptions
from shortlist.multistage.search.emsco import EmscoResult as EmscoResult
from shortlist.multistage.search.enumeration import EnumerationResult as EnumerationResult
from shortlist.multistage.search.enumeration import TiedBlock as TiedBlock
from shortlist.multistage.search.enumeration import enumerate_front as enumerate_front
from shortlist.multistage.search.enumeration import tied_assignments as tied_assignments
from shortlist.multistage.search.enumeration import tied_blocks as tied_blocks
from shortlist.multistage.search.stage_objectives import OBJECTIVES as OBJECTIVES
from shortlist.multistage.search.stage_objectives import StageProblem as StageProblem
from shortlist.multistage.search.stage_objectives import stage_problem as stage_problem
from shortlist.multistage.subclassifiers.decision_bits import DecisionBits as DecisionBits
from shortlist.multistage.subclassifiers.subclassifiers import (
    LogisticSubclassifiers as LogisticSubclassifiers,
)
