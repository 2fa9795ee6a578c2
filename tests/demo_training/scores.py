"""Score answers of demo models in degrees: `PYTHONPATH=tests python -m demo_training.scores`.

It asks three models questions about their world in five wordings each, and writes `scores.csv`, which `make report`
imports by `waver import table --score-column`. The scores are the models' own: the probability of the right answer, and
the same in bits, -log2 of it, as a measure that has no highest score. `scores-models.yaml` says of which weights.
"""

from __future__ import annotations

import argparse
import csv
import math
import tempfile
from pathlib import Path

import waver
from inference.demo import MODELS, SCORED_MODELS, SCORES

ASKED = ("waver-demo-mini", "waver-demo-medium", "waver-demo-large")
QUESTIONS = 100
"""As many as `make report` asks of protocol wording."""
EVERY = 3
"""The first of every three questions is taken, up to `ITEMS`."""
ITEMS = 30
HEADER = ("model", "question", "wording", "text", "temperature", "probability", "bits")


def score_answers() -> tuple[list[dict[str, str]], dict[str, str]]:
    """Ask the models, and score every answer.

    Returns
    -------
    rows, revisions
        Rows with the columns of `HEADER`, one per model, question and wording; probabilities are exact, so that the
        temperature is 0. And the revision of every model's weights.
    """
    with tempfile.TemporaryDirectory() as folder:
        run = waver.ask(
            "demo", [MODELS / name for name in ASKED], protocol="wording", out=Path(folder, "run"),
            sample=QUESTIONS, balanced=True,
        )  # fmt: skip
        responses, wordings = run.responses(), run.wordings()
        revisions = run.models().set_index("model")["revision"]
    chosen = list(dict.fromkeys(wordings["item"]))[::EVERY][:ITEMS]
    asked = wordings[["item", "variant", "position", "text", "gold", "canonical"]]
    rows = responses[["model", "item", "variant", "probability"]].merge(asked, on=["item", "variant"])
    rows = rows[rows["item"].isin(chosen)].assign(place=rows["model"].map(ASKED.index))
    table = []
    for row in rows.sort_values(["place", "position"]).to_dict("records"):
        right = row["probability"][list(row["canonical"]).index(row["gold"])]
        table.append({
            "model": row["model"], "question": row["item"], "wording": row["variant"], "text": row["text"],
            "temperature": "0", "probability": f"{right:.4f}", "bits": f"{-math.log2(right):.3f}",
        })  # fmt: skip
    return table, {name: str(revisions[name]) for name in ASKED}


def main() -> None:
    """Write the table and the revisions."""
    argparse.ArgumentParser(
        prog="python -m demo_training.scores", description="Score answers of the demo models and write scores.csv."
    ).parse_args()
    rows, revisions = score_answers()
    text = "".join(f"{model}: {{revision: '{revision}'}}\n" for model, revision in revisions.items())
    SCORED_MODELS.write_text(text, encoding="utf-8")
    with SCORES.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, HEADER, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
