# The public names, each once; shortlist._lazy reads this file too.

from shortlist.papers.opponents.budgeted_models import (
    FixedStages,  # noqa: F401
    OneSubset,  # noqa: F401
)
from shortlist.papers.opponents.cost_ordered import CostOrderedStages as CostOrderedStages
from shortlist.papers.opponents.cost_ordered import SingleStage as SingleStage
from shortlist.papers.opponents.greedy_miser import GreedyMiser as GreedyMiser
from shortlist.papers.opponents.greedy_miser import MiserTrees  # noqa: F401
from shortlist.papers.opponents.lasso import CactLasso as CactLasso
from shortlist.papers.opponents.lasso import L1Path as L1Path
from shortlist.papers.opponents.lightgbm_trees import CostAwareLightGBM as CostAwareLightGBM
from shortlist.papers.opponents.lightgbm_trees import PricedBooster  # noqa: F401
from shortlist.papers.opponents.linear_trees import LinearTree  # noqa: F401
from shortlist.papers.opponents.tree_classifiers import ASTC as ASTC
from shortlist.papers.opponents.tree_classifiers import CSTC as CSTC
from shortlist.papers.pruning_comparison import compare_methods as compare_methods
from shortlist.papers.pruning_comparison import write_results as write_results
from shortlist.papers.ranks import RankTest as RankTest
from shortlist.papers.ranks import rank_methods as rank_methods
