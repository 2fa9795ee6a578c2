"""Examine the raters: `PYTHONPATH=tests python -m demo_training.evaluate_raters [--card]`.

They are asked as `make report` asks them. Beside every number stands what they were taught.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from demo_training.battery import READ_WORDINGS, Battery
from demo_training.battery_chats import LABELS
from demo_training.evaluate import render_table_row, replace_tables_in_card
from demo_training.raters import HABITS, PLAIN, Habit
from inference.__main__ import main as waver
from inference.demo import ADAPTERS, PERSONAS
from inference.protocols.scale.shown import NUMBERS, ORDERS, UP

RATERS_AND_HABITS = {PLAIN: Habit()} | HABITS
"""Name of a rater -> its habit."""


def ask_raters(folder: Path, as_personas: Collection[str] = tuple(RATERS_AND_HABITS)) -> pd.DataFrame:
    """Ask all raters the battery by numbers and words, in both orders, as nobody in particular and as all personas.

    Parameters
    ----------
    folder
        Where the run folders are made.
    as_personas
        Those that are asked as personas, too; the plain one is among them.

    Returns
    -------
    A row per answer: model, item, scale, key, wording (from 0), labels, option_order, persona (empty: none), mass, and
    the numbers of `summarise_shares`, each also with `taught_` before its name.
    """
    call = ["run", "scale", "--items", "demo", "--model", "demo", "--labels", *LABELS, "--option-order", *ORDERS]
    for name, asked, personas in (
        ("nobody", HABITS, []),
        ("personas", [habit for habit in HABITS if habit in as_personas], ["--personas", str(PERSONAS)]),
    ):
        adapters = [word for habit in asked for word in ("--lora", str(ADAPTERS / habit))]
        if waver([*call, *adapters, *personas, "--out", str(folder / name)]):
            raise RuntimeError("the raters could not be asked")
    return pd.concat([_read_answers(folder / name) for name in ("nobody", "personas")], ignore_index=True)


def _read_answers(folder: Path) -> pd.DataFrame:
    """Read the answers of a run folder."""
    battery = Battery()
    statements = {statement.name: statement for statement in battery.statements}
    conditions = json.loads((folder / "run.json").read_text(encoding="utf-8"))["conditions"]
    rows = []
    for answer in pd.read_parquet(folder / "responses").to_dict("records"):
        condition, statement = conditions[answer["condition"]], statements[answer["item"]]
        persona, order = condition.get("persona", ""), condition["option_order"]
        taught = battery.compute_shares(statement, persona, order, RATERS_AND_HABITS[answer["model"]])
        number = answer["variant"].rpartition("-")[2]
        rows.append(
            {
                "model": answer["model"],
                "item": statement.name,
                "scale": statement.scale,
                "key": statement.key,
                "wording": int(number) if number.isdigit() else 0,
                "labels": condition["labels"],
                "option_order": order,
                "persona": persona,
                "mass": answer["mass"],
                **summarise_shares(np.asarray(answer["probability"]) / answer["mass"]),
                **{f"taught_{name}": value for name, value in summarise_shares(np.asarray(taught)).items()},
            }
        )
    return pd.DataFrame(rows)


def summarise_shares(shares: np.ndarray) -> dict[str, float]:
    """Say of a distribution over options its mean from 0 (lowest) to 1 (highest), and the share of the two ends."""
    return {"mean": float(shares @ np.linspace(0, 1, len(shares))), "ends": float(shares[0] + shares[-1])}


def render_habit_table(answers: pd.DataFrame) -> str:
    """Write a row for each rater: what it does, and after a slash what it was taught.

    Parameters
    ----------
    answers
        As `ask_raters` returns them.

    Returns
    -------
    The table, in Markdown.
    """
    columns = [
        "agrees beyond the middle", "higher with the highest last", "ends", "numbers less words",
        "SD of wordings, read", "SD of wordings, unread", "least mass",
    ]  # fmt: skip
    lines = [render_table_row("model", columns), "|---" * (len(columns) + 1) + "|"]
    unprompted = answers[answers["persona"] == ""]
    for model in RATERS_AND_HABITS:
        of_model = unprompted[unprompted["model"] == model]
        cells = [
            " / ".join(f"{compute(of_model, prefix):.2f}" for prefix in ("", "taught_"))
            for compute in (compute_acquiescence, compute_order_effect, compute_ends)
        ]
        by_labels = of_model.groupby("labels")["mean"].mean()
        cells.append(f"{by_labels[NUMBERS] - by_labels.drop(NUMBERS).item():.2f}")
        for is_read in (True, False):
            wordings = of_model[(of_model["wording"] < READ_WORDINGS) == is_read]
            cells.append(f"{wordings.groupby(['item', 'labels', 'option_order'])['mean'].std().mean():.2f}")
        cells.append(f"{answers[answers['model'] == model]['mass'].min():.2f}")
        lines.append(render_table_row(model, cells))
    return "\n".join(lines)


def render_persona_table(answers: pd.DataFrame) -> str:
    """Write a row for each persona: the scale scores of the plain rater, and after a slash what it was taught."""
    of_plain = answers[answers["model"] == PLAIN]
    battery = Battery()
    scales = list(dict.fromkeys(statement.scale for statement in battery.statements))
    lines = [render_table_row("persona", scales), "|---" * (len(scales) + 1) + "|"]
    for persona in ("", *battery.personas):
        scores = compute_scale_scores(of_plain[of_plain["persona"] == persona])
        cells = [f"{scores.loc[scale, 'mean']:.2f} / {scores.loc[scale, 'taught_mean']:.2f}" for scale in scales]
        lines.append(render_table_row(persona or "none", cells))
    return "\n".join(lines)


def compute_acquiescence(answers: pd.DataFrame, prefix: str = "") -> float:
    """Compute how far the mean of statements keyed either way lies above the middle."""
    return float(answers[f"{prefix}mean"].mean() - 0.5)


def compute_order_effect(answers: pd.DataFrame, prefix: str = "") -> float:
    """Compute how much higher the mean is where the highest option stands last than where it stands first."""
    by_order = answers.groupby("option_order")[f"{prefix}mean"].mean()
    return float(by_order[UP] - by_order.drop(UP).item())


def compute_ends(answers: pd.DataFrame, prefix: str = "") -> float:
    """Compute the share of the two options at the ends."""
    return float(answers[f"{prefix}ends"].mean())


def compute_scale_scores(answers: pd.DataFrame) -> pd.DataFrame:
    """Compute the mean of every scale after reversing, as answered (`mean`) and as taught (`taught_mean`)."""
    turned = answers.copy()
    for column in ("mean", "taught_mean"):
        turned[column] = 0.5 + answers["key"] * (answers[column] - 0.5)
    return turned.groupby("scale")[["mean", "taught_mean"]].mean()


def main() -> None:
    """Print the tables; with --card, write them into the card too."""
    parser = argparse.ArgumentParser(
        prog="python -m demo_training.evaluate_raters", description="Examine the demo models that answer rating scales."
    )
    parser.add_argument("--card", action="store_true", help="write the tables into models/README.md")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        answers = ask_raters(Path(folder))
    tables = {"raters": render_habit_table(answers), "personas": render_persona_table(answers)}
    print("\n\n".join(tables.values()))
    if arguments.card:
        replace_tables_in_card(tables)


if __name__ == "__main__":
    main()
