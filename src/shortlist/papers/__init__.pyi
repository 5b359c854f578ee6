# The public names, each once; shortlist._lazy reads this file too.

# Saved models name these by this package; they are not exported.
from shortlist.papers.opponents.budgeted_classifier import (
    FixedStages,  # noqa: F401
    OneSubset,  # noqa: F401
)
from shortlist.papers.opponents.cost_ordered import (
    CostOrderedStages,  # noqa: F401
    SingleStage,  # noqa: F401
)
from shortlist.papers.opponents.cost_sensitive_tree import LinearTree  # noqa: F401
from shortlist.papers.opponents.greedy_miser import (
    GreedyMiser,  # noqa: F401
    MiserTrees,  # noqa: F401
)
from shortlist.papers.opponents.lasso import (
    CactLasso,  # noqa: F401
    L1Path,  # noqa: F401
)
from shortlist.papers.opponents.lightgbm_trees import (
    CostAwareLightGBM,  # noqa: F401
    PricedBooster,  # noqa: F401
)
from shortlist.papers.opponents.tree_classifiers import (
    ASTC,  # noqa: F401
    CSTC,  # noqa: F401
)
from shortlist.papers.pruning_comparison import compare_methods as compare_methods
from shortlist.papers.ranks import RankTest  # noqa: F401
from shortlist.papers.ranks import rank_methods as rank_methods
