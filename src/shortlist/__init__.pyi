# The public names, each once; shortlist._lazy reads this file too.

# Saved models name these by this package; they are not exported.
from shortlist.ensembles.committees.evidence import ClassSelection, EnsembleSelection
from shortlist.ensembles.estimators.evolved_ensemble import (
    EvolutionaryEnsembleClassifier as EvolutionaryEnsembleClassifier,
)
from shortlist.ensembles.estimators.exact_pruner import ExactPruner as ExactPruner
from shortlist.ensembles.estimators.front_pruner import FrontPruner as FrontPruner
from shortlist.ensembles.estimators.rule_pruners import BackfittingPruner as BackfittingPruner
from shortlist.ensembles.estimators.rule_pruners import GreedyMeansPruner as GreedyMeansPruner
from shortlist.ensembles.pools.fitting import load_pool as load_pool
from shortlist.ensembles.pools.fitting import make_pool as make_pool
from shortlist.ensembles.pools.pool import Pool as Pool
from shortlist.errors import AcquisitionError as AcquisitionError
from shortlist.errors import BadFileError as BadFileError
from shortlist.errors import BadInputError as BadInputError
from shortlist.errors import ShortlistError as ShortlistError
from shortlist.errors import SolverError as SolverError
from shortlist.errors import UntrustedFileError as UntrustedFileError
from shortlist.guarantees.guarantee import Guarantee
from shortlist.guarantees.selective_classifier import SelectiveClassifier as SelectiveClassifier
from shortlist.multistage.estimators import MultiStageClassifier as MultiStageClassifier
from shortlist.multistage.problem.cost_files import read_costs as read_costs
from shortlist.multistage.problem.costs import FeatureCosts
from shortlist.multistage.problem.costs import feature_costs as feature_costs
from shortlist.products.attribute_files import read_attributes as read_attributes
from shortlist.products.configuration.product_front import Configured
from shortlist.products.configuration.product_front import configure as configure
from shortlist.products.configuration.requirements import Requirements as Requirements
from shortlist.products.configuration.requirements import read_requirements as read_requirements
from shortlist.products.formats import read_model as read_model
from shortlist.products.formats import write_model as write_model
from shortlist.products.model import FeatureModel as FeatureModel
from shortlist.programs.arrays import solve_front as solve_front
from shortlist.results.front import Front as Front
from shortlist.results.objective import Limit, Sense
from shortlist.results.objective import Objective as Objective
from shortlist.results.picking import Pick
from shortlist.results.proof import Proof as Proof
from shortlist.results.proof import ProofKind, Selection
from shortlist.results.proof import Status as Status
from shortlist.saved_models import SavedModel
from shortlist.tables.fingerprints import Fingerprint

__version__: str
