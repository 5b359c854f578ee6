# The public names, each once; shortlist._lazy reads this file too.

# Saved models name these by this package; they are not exported.
from shortlist.ensembles.committees.asking import AskingOrder
from shortlist.ensembles.committees.ballots import Mean, Plurality, Threshold
from shortlist.ensembles.committees.chosen import Chosen as Chosen
from shortlist.ensembles.committees.chosen import FittedRows, RecordedRows, Terms
from shortlist.ensembles.committees.committee import Committee, MemberAnswers
from shortlist.ensembles.committees.evidence import Evidence
from shortlist.ensembles.estimators.evolved_ensemble import (
    EvolutionaryEnsembleClassifier as EvolutionaryEnsembleClassifier,
)
from shortlist.ensembles.estimators.exact_pruner import ExactPruner as ExactPruner
from shortlist.ensembles.estimators.front_pruner import FrontPruner as FrontPruner
from shortlist.ensembles.estimators.rule_pruners import BackfittingPruner as BackfittingPruner
from shortlist.ensembles.estimators.rule_pruners import GreedyMeansPruner as GreedyMeansPruner
from shortlist.ensembles.evolution.evolution import Evolved, Generation
from shortlist.ensembles.evolution.scored_spaces import GeneticPrograms, LinearClassifiers, NeuralNetworks
from shortlist.ensembles.evolution.spaces import RuleSystems
from shortlist.ensembles.evolution.spaces import SearchSpace as SearchSpace
from shortlist.ensembles.pools.encoder import FoldedColumns, TableEncoder
from shortlist.ensembles.pools.families import NearestRows, RidgeCovariance
from shortlist.ensembles.pools.fitting import load_pool as load_pool
from shortlist.ensembles.pools.fitting import make_pool as make_pool
from shortlist.ensembles.pools.judges import Judge
from shortlist.ensembles.pools.members import Member
from shortlist.ensembles.pools.plain import PlainBoosting
from shortlist.ensembles.pools.pool import CrossFittedPool
from shortlist.ensembles.pools.pool import Pool as Pool
from shortlist.ensembles.rules import Backfitted, Ordering
from shortlist.ensembles.verification.recheck_model import Verification
from shortlist.ensembles.verification.recheck_model import verify as verify
from shortlist.ensembles.votes.hard_votes import Confusion
from shortlist.ensembles.votes.soft_votes import Calibration
