"""Pictures of accuracy against cost, from the rows that the study of cost curves has written.

python -m benchmarks.studies.curve_pictures
"""

from pathlib import Path

import pandas as pd

from benchmarks.rows import RESULTS

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
TITLES = {
    "pima_diabetes": "Pima, prices of real tests",
    "heart_disease_cleveland": "Heart disease, prices of real tests",
    "heart_failure_clinical_records": "Heart failure, prices of the paper",
    "australian_credit": "Credit, prices of the paper",
    "breast_cancer_wisconsin_original": "Breast cancer, equal prices",
    "diabetic_retinopathy_debrecen": "Retinopathy, equal prices",
}
STYLES = {
    "stages": ("#0b5fa5", "o"),
    "lightgbm": ("#d1495b", "s"),
    "lightgbm-rows": ("#e08e45", "D"),
    "greedy-miser": ("#6a994e", "^"),
    "pystreed": ("#7b4fa3", "v"),
    "l1-path": ("#5c677d", "P"),
}


def draw(rows: pd.DataFrame, coverage: float, path: Path) -> None:
    """Draw a panel per table: filled where the difference to the stages is larger than its margin."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6.6), layout="constrained")
    panels = figure.subplots(2, 3).ravel()
    shown = rows[(rows["coverage"] == coverage) & (rows["rule"] == "best") & rows["cost"].notna()]
    for panel, (name, title) in zip(panels, TITLES.items(), strict=True):
        for method, (colour, mark) in STYLES.items():
            part = shown[(shown["table"] == name) & (shown["method"] == method)].sort_values("cost")
            if part.empty:
                continue
            panel.plot(
                part["cost"],
                part["accuracy"],
                color=colour,
                lw=2.4 if method == "stages" else 1.2,
                label=method,
            )
            sure = (part["difference"].abs() > part["difference_margin"]) | (method == "stages")
            for full, here in ((True, part[sure]), (False, part[~sure])):
                panel.plot(
                    here["cost"], here["accuracy"], mark, color=colour, mfc=colour if full else "white", ms=6
                )
        panel.set_xscale("log")
        panel.set_xticks([0.02, 0.05, 0.1, 0.2, 0.5], ["2 %", "5 %", "10 %", "20 %", "50 %"])
        panel.minorticks_off()
        panel.set_title(title, fontsize=11)
        panel.grid(alpha=0.3)
    panels[0].legend(fontsize=9)
    figure.supxlabel("what a new row pays on average, of the price of all features")
    answered = (
        "every row is answered" if coverage == 1 else f"the surest {coverage:.0%} of the rows are answered"
    )
    figure.supylabel(f"right answers; {answered}")
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    measured = pd.read_csv(RESULTS / "cost-curves.csv")
    for share, file in ((1.0, "cost-curves.png"), (0.8, "cost-curves-80.png")):
        draw(measured, share, PICTURES / file)
