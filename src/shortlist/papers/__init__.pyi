# The public names, each once; shortlist._lazy reads this file too.

# Saved models name these by this package; they are not exported.
from shortlist.papers.comparison import RankTest
from shortlist.papers.comparison import rank_methods as rank_methods
from shortlist.papers.opponents.budgeted_classifier import (
    CostOrderedStages,
    FixedStages,
    OneSubset,
    SingleStage,
)
from shortlist.papers.opponents.cost_sensitive_tree import LinearTree
from shortlist.papers.opponents.greedy_miser import GreedyMiser, MiserTrees
from shortlist.papers.opponents.lasso import CactLasso, L1Path
from shortlist.papers.opponents.lightgbm_trees import CostAwareLightGBM, PricedBooster
from shortlist.papers.opponents.tree_classifiers import ASTC, CSTC
from shortlist.papers.pruning_comparison import compare_methods as compare_methods
