# The public names, each once; shortlist._lazy reads this file too.

from shortlist.ensembles.answers import class_answers as class_answers
from shortlist.ensembles.backfitting import Backfitted as Backfitted
from shortlist.ensembles.backfitting import backfit as backfit
from shortlist.ensembles.comparison import compare_methods as compare_methods
from shortlist.ensembles.comparison import pruning_methods as pruning_methods
from shortlist.ensembles.comparison import write_results as write_results
from shortlist.ensembles.diversity import failure_credit as failure_credit
from shortlist.ensembles.diversity import failure_patterns as failure_patterns
from shortlist.ensembles.diversity import pairwise_failure_crediting as pairwise_failure_crediting
from shortlist.ensembles.estimators import ExactPruner as ExactPruner
from shortlist.ensembles.evolution import Evolved as Evolved
from shortlist.ensembles.evolution import Generation as Generation
from shortlist.ensembles.evolution import evolve as evolve
from shortlist.ensembles.evolution import row_weights as row_weights
from shortlist.ensembles.exact import prune_exactly as prune_exactly
from shortlist.ensembles.incumbent import EnsembleSelection as EnsembleSelection
from shortlist.ensembles.margins import compare_histograms as compare_histograms
from shortlist.ensembles.margins import grow_by_margins as grow_by_margins
from shortlist.ensembles.margins import select_by_margins as select_by_margins
from shortlist.ensembles.margins import vote_margins as vote_margins
from shortlist.ensembles.objectives import prune_for as prune_for
from shortlist.ensembles.orderings import RULES as RULES
from shortlist.ensembles.orderings import Ordering as Ordering
from shortlist.ensembles.orderings import order_classifiers as order_classifiers
from shortlist.ensembles.plurality import ClassVotes as ClassVotes
from shortlist.ensembles.plurality import class_votes as class_votes
from shortlist.ensembles.plurality import merge_class_rows as merge_class_rows
from shortlist.ensembles.pool import Pool as Pool
from shortlist.ensembles.pool import as_pool as as_pool
from shortlist.ensembles.pool import load_pool as load_pool
from shortlist.ensembles.pool import make_pool as make_pool
from shortlist.ensembles.pool import positive_probabilities as positive_probabilities
from shortlist.ensembles.ranks import RankTest as RankTest
from shortlist.ensembles.ranks import rank_folds as rank_folds
from shortlist.ensembles.ranks import rank_methods as rank_methods
from shortlist.ensembles.ranks import results_table as results_table
from shortlist.ensembles.rule_estimators import BackfittingPruner as BackfittingPruner
from shortlist.ensembles.rule_estimators import (
    EvolutionaryEnsembleClassifier as EvolutionaryEnsembleClassifier,
)
from shortlist.ensembles.rule_estimators import MarginPruner as MarginPruner
from shortlist.ensembles.rule_estimators import OrderedPruner as OrderedPruner
from shortlist.ensembles.spaces import SPACES as SPACES
from shortlist.ensembles.spaces import SearchSpace as SearchSpace
from shortlist.ensembles.verification import Verification as Verification
from shortlist.ensembles.verification import verify as verify
from shortlist.ensembles.votes import Confusion as Confusion
from shortlist.ensembles.votes import Votes as Votes
from shortlist.ensembles.votes import merge_rows as merge_rows
from shortlist.ensembles.votes import round_votes as round_votes
