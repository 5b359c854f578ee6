# The public names, each once; shortlist._lazy reads this file too.

from shortlist.ensembles.estimators.exact_pruner import ExactPruner as ExactPruner
from shortlist.ensembles.estimators.rule_estimators import BackfittingPruner as BackfittingPruner
from shortlist.ensembles.estimators.rule_estimators import (
    EvolutionaryEnsembleClassifier as EvolutionaryEnsembleClassifier,
)
from shortlist.ensembles.estimators.rule_estimators import MarginPruner as MarginPruner
from shortlist.ensembles.estimators.rule_estimators import OrderedPruner as OrderedPruner
from shortlist.ensembles.evolution.evolution import Evolved as Evolved
from shortlist.ensembles.evolution.evolution import Generation as Generation
from shortlist.ensembles.evolution.evolution import evolve as evolve
from shortlist.ensembles.evolution.evolution import row_weights as row_weights
from shortlist.ensembles.evolution.spaces import SPACES as SPACES
from shortlist.ensembles.evolution.spaces import SearchSpace as SearchSpace
from shortlist.ensembles.goals.diversity import failure_credit as failure_credit
from shortlist.ensembles.goals.diversity import failure_patterns as failure_patterns
from shortlist.ensembles.goals.diversity import pairwise_failure_crediting as pairwise_failure_crediting
from shortlist.ensembles.pools.class_answers import class_answers as class_answers
from shortlist.ensembles.pools.pool import Pool as Pool
from shortlist.ensembles.pools.pool import as_pool as as_pool
from shortlist.ensembles.pools.pool import load_pool as load_pool
from shortlist.ensembles.pools.pool import make_pool as make_pool
from shortlist.ensembles.pools.pool import positive_probabilities as positive_probabilities
from shortlist.ensembles.proofs.incumbent import EnsembleSelection as EnsembleSelection
from shortlist.ensembles.pruning.pruning import prune_for as prune_for
from shortlist.ensembles.pruning.weighted_pruning import prune_exactly as prune_exactly
from shortlist.ensembles.rules.backfitting import Backfitted as Backfitted
from shortlist.ensembles.rules.backfitting import backfit as backfit
from shortlist.ensembles.rules.margin_selection import compare_histograms as compare_histograms
from shortlist.ensembles.rules.margin_selection import grow_by_margins as grow_by_margins
from shortlist.ensembles.rules.margin_selection import select_by_margins as select_by_margins
from shortlist.ensembles.rules.margin_selection import vote_margins as vote_margins
from shortlist.ensembles.rules.orderings import RULES as RULES
from shortlist.ensembles.rules.orderings import Ordering as Ordering
from shortlist.ensembles.rules.orderings import order_classifiers as order_classifiers
from shortlist.ensembles.studies.method_comparison import compare_methods as compare_methods
from shortlist.ensembles.studies.method_comparison import pruning_methods as pruning_methods
from shortlist.ensembles.studies.method_comparison import write_results as write_results
from shortlist.ensembles.studies.ranks import RankTest as RankTest
from shortlist.ensembles.studies.ranks import rank_folds as rank_folds
from shortlist.ensembles.studies.ranks import rank_methods as rank_methods
from shortlist.ensembles.studies.ranks import results_table as results_table
from shortlist.ensembles.verification.recheck import Verification as Verification
from shortlist.ensembles.verification.recheck import verify as verify
from shortlist.ensembles.votes.binary_votes import Confusion as Confusion
from shortlist.ensembles.votes.binary_votes import Votes as Votes
from shortlist.ensembles.votes.binary_votes import merge_rows as merge_rows
from shortlist.ensembles.votes.binary_votes import round_votes as round_votes
from shortlist.ensembles.votes.class_votes import ClassVotes as ClassVotes
from shortlist.ensembles.votes.class_votes import class_votes as class_votes
from shortlist.ensembles.votes.class_votes import merge_class_rows as merge_class_rows
