"""Price and latency of each point are those of the panel that is written, on the cases that choose."""

import numpy as np
import pandas as pd
import pytest

from shortlist.guarantees.guarantee import Demand
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.choice import choose_panels
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.policy import Final

FINALS = (Final(), Final("hand-over", 2.5), Final("reject"))
FRONTS = (
    ("accuracy", "price"),
    ("accuracy", "price", "latency"),
    ("error-cost", "price"),
    ("recall", "specificity", "price"),
)
N_LOGS, N_BLOCKS = 200, 4


def drawn_log(rng: np.random.Generator) -> AnswerLog:
    """Answers with or without confidence, prices of a judge or of a call, and a free column of clusters."""
    n_cases, n_judges = int(rng.integers(60, 110)), int(rng.integers(2, 5))
    truth = rng.choice(["no", "yes"], n_cases)
    n_clusters = int(rng.choice([2, 12]))
    cluster = rng.integers(0, n_clusters, n_cases)
    skill = rng.choice([0.4, 0.97], (n_clusters, n_judges))[cluster]
    is_right = rng.random((n_cases, n_judges)) < skill
    said = np.where(is_right, truth[:, None], rng.choice(["no", "yes", ""], is_right.shape))
    sure = np.clip(0.3 * rng.random(said.shape) + 0.6 * is_right + rng.normal(0, 0.1, said.shape), 0, 1)
    prices = 3.0 ** np.arange(n_judges) / 10
    if rng.random() < 0.5:
        prices = np.round(prices * rng.uniform(0.3, 3, said.shape), 4)
    measures = Measures(
        prices=prices,
        confidence=sure if rng.random() < 0.7 else None,
        latency=rng.uniform(0.1, 5, said.shape),
    )
    features = pd.DataFrame({"cluster": [f"c{one}" for one in cluster]})
    names = [f"j{place}" for place in range(n_judges)]
    return make_log(names, np.arange(n_cases), said, truth, measures=measures, features=features)


@pytest.mark.parametrize("block", range(N_BLOCKS))
def test_the_told_price_is_what_the_written_panel_pays_on_the_same_cases(block: int) -> None:
    n_routed = n_learned = 0
    for seed in range(block, N_LOGS, N_BLOCKS):
        rng = np.random.default_rng(seed)
        log, objectives = drawn_log(rng), FRONTS[int(rng.integers(0, 4))]
        is_promised, is_few = rng.random() < 0.15, rng.random() < 0.1
        options = PanelOptions(
            final=FINALS[int(rng.integers(0, 3))],
            max_stages=int(rng.integers(1, 4)),
            test_share=None if is_promised or is_few else 0.25,
            demand=Demand(0.7, 0.8) if is_promised else None,
            router=() if "recall" in objectives or rng.random() < 0.3 else ("cluster",),
        )
        choice = choose_panels(log, options, objectives=objectives)
        plains = []
        for point, found in enumerate(choice.found):
            panel, told = choice.panel(point), choice.front.values[point]
            paid = panel.run(choice.chosen)
            price = float(told[choice.front.names.index("price")])
            assert price == pytest.approx(paid.price.mean(), rel=1e-9, abs=1e-12)
            assert found.seconds == pytest.approx(paid.latency.mean())
            plains.append(panel.plain()["digest"])
            n_routed += found.recipe.router is not None
            n_learned += found.recipe.learner == "logistic"
        assert len({*plains}) == len(plains)
    assert n_routed > 0
    assert n_learned > 0
