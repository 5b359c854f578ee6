# The public names, each once; shortlist._lazy reads this file too.

# Saved models name these by this package; they are not exported.
from shortlist_papers.comparison import RankTest
from shortlist_papers.comparison import rank_methods as rank_methods
from shortlist_papers.opponents.budgeted_classifier import (
    CostOrderedStages,
    FixedStages,
    OneSubset,
    SingleStage,
)
from shortlist_papers.opponents.cost_sensitive_tree import CSTC, LinearTree
from shortlist_papers.opponents.greedy_miser import GreedyMiser, MiserTrees
from shortlist_papers.opponents.lasso import CactLasso, L1Path
from shortlist_papers.opponents.lightgbm_trees import CostAwareLightGBM, PricedBooster
from shortlist_papers.opponents.submodular_tree import ASTC
from shortlist_papers.pruning_comparison import compare_methods as compare_methods
from shortlist_papers.rules.rule_pruners import OrderedPruner as OrderedPruner
