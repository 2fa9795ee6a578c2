"""Six changes that a researcher makes to a copy of a notebook, in at most three lines each: the number that changes."""

from __future__ import annotations

import difflib
import subprocess
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import nbformat
import pandas as pd
import papermill
import pytest
import yaml

import waver
from helpers.commands import ROOT

pytestmark = pytest.mark.slow

BUILT = ROOT / "results" / "demo"
MODELS = ROOT / "inference" / "demo" / "models"
FRAMES = ("In ", "When ", "Compared ")


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    """The runs of `make report`, where they are; else fewer questions to the same models."""
    if all((BUILT / name / "run.json").is_file() for name in ("agreement", "scoring")):
        return BUILT
    folder = tmp_path_factory.mktemp("demo")
    waver.ask("demo", "demo", out=folder / "agreement", wordings=10)
    waver.ask("demo", "demo", protocol="scoring", out=folder / "scoring", exact=True, temperature=0.7)
    return folder


@pytest.fixture(scope="module")
def framed(tmp_path_factory) -> Path:
    """The demo's questions with a column that only their author knows: does a wording begin with a frame?"""
    text = (ROOT / "inference" / "demo" / "questionnaire.yaml").read_text(encoding="utf-8")
    items = pd.DataFrame(
        [
            {"item": item["item"], "text": wording, "framed": int(wording.startswith(FRAMES))}
            for item in yaml.safe_load(text)
            for wording in [item["text"], *item["paraphrases"][:12]]
        ]
    )
    out = tmp_path_factory.mktemp("framed") / "run"
    waver.ask(items, [MODELS / "waver-demo-large", MODELS / "waver-demo-large-tuned"], out=out)
    return out


def run_changed(name: str, changes: dict[str, str], folder: Path, **parameters) -> Path:
    """Change lines of a copy of a notebook, run it in a folder, and return that folder."""
    node = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", 4)
    before = [line for cell in node.cells for line in cell.source.splitlines()]
    for old, new in changes.items():
        (cell,) = (cell for cell in node.cells if cell.cell_type == "code" and old in cell.source)
        assert cell.source.count(old) == 1
        cell.source = cell.source.replace(old, new)
    after = [line for cell in node.cells for line in cell.source.splitlines()]
    diff = [
        line for line in difflib.unified_diff(before, after, n=0, lineterm="") if line[:2] not in ("--", "++", "@@")
    ]
    print(f"\nnotebooks/{name}.ipynb", *diff, sep="\n")
    assert 1 <= sum(line.startswith("+") for line in diff) <= 3
    assert 1 <= sum(line.startswith("-") for line in diff) <= 3
    nbformat.write(node, folder / f"{name}.ipynb")
    papermill.execute_notebook(
        folder / f"{name}.ipynb", folder / "done.ipynb", parameters, cwd=folder, progress_bar=False
    )
    return folder


def look_up(table: pd.DataFrame, column: str, **row: str) -> float:
    """The one number of a table in a column and a row."""
    found = table
    for name, value in row.items():
        found = found[found[name] == value]
    (number,) = found[column]
    return float(number)


def show(what: str, before: object, after: object) -> None:
    print(f"{what}: {before} -> {after}")


TUNED = {"model": "waver-demo-large-tuned", "condition": "chat/yes-no"}


def test_drop_wordings_with_a_negation(demo, tmp_path):
    run = demo / "agreement"
    run_changed(
        "stability", {'where: str = ""': 'where: str = "negation_cues = 0"'}, tmp_path,
        runs=[str(run)], out="results", resamples=20,
    )  # fmt: skip
    after = pd.read_csv(tmp_path / "results" / "tables" / "stability.csv")
    before = waver.open(run).table("stability", resamples=20)
    show("range of large-tuned", *(look_up(table, "range_mean", **TUNED) for table in (before, after)))
    show("its paraphrases", *(int(look_up(table, "n_variants", **TUNED)) for table in (before, after)))
    part = waver.open(run).where("negation_cues = 0").table("stability", resamples=20)
    assert look_up(after, "range_mean", **TUNED) == pytest.approx(look_up(part, "range_mean", **TUNED), rel=1e-12)
    assert look_up(after, "range_mean", **TUNED) < look_up(before, "range_mean", **TUNED)
    assert look_up(after, "n_variants", **TUNED) < look_up(before, "n_variants", **TUNED)


def test_another_flip_rule(demo, tmp_path):
    run = demo / "agreement"
    run_changed("stability", {"[0.05, 0.10, 0.25]": "[0.05, 0.20, 0.25]"}, tmp_path,
                runs=[str(run)], out="results", resamples=20)  # fmt: skip
    after = pd.read_csv(tmp_path / "results" / "tables" / "stability.csv")
    before = waver.open(run).table("stability", resamples=20)
    shares = look_up(before, "flip_10", **TUNED), look_up(after, "flip_20", **TUNED)
    show("flips of large-tuned", *shares)
    assert "flip_10" not in after
    items = waver.open(run).table("items").query("model == @TUNED['model'] and condition == @TUNED['condition']")
    assert shares == (
        pytest.approx((items["minority_share"] > 0.1).mean()), pytest.approx((items["minority_share"] > 0.2).mean())
    )  # fmt: skip


def test_one_more_predictor_of_ones_own(framed, tmp_path):
    run_changed("text_features", {'predictors: str = "all"': 'predictors: str = "all,framed"'}, tmp_path,
                runs=[str(framed)], out="results")  # fmt: skip
    after = pd.read_csv(tmp_path / "results" / "tables" / "mixed.csv")
    before = waver.open(framed).table("mixed")
    of_length = {**TUNED, "term": "statement_length"}
    show("effect of a statement's length", *(look_up(table, "estimate", **of_length) for table in (before, after)))
    show("effect of a frame", None, look_up(after, "estimate", **TUNED, term="attributes.framed"))
    assert "attributes.framed" not in set(before["term"])
    assert look_up(after, "estimate", **of_length) != look_up(before, "estimate", **of_length)


def has_lme4() -> bool:
    """Is there what pymer4 needs? Nothing is imported: R would start in the process of the tests."""
    if not find_spec("pymer4") or not which("Rscript"):
        return False
    code = "quit(status = !nzchar(system.file(package = 'lmerTest')))"
    return subprocess.run(["Rscript", "-e", code], check=False).returncode == 0


def test_random_slopes_through_pymer4(demo, tmp_path):
    if not has_lme4():
        pytest.skip("no R with lmerTest and pymer4 on this machine (make references installs them)")
    slopes = 'agreement ~ negation_cues + (1 + negation_cues | item)", engine="pymer4", by=["model", "condition"])'
    run = demo / "agreement"
    opened = f"waver.open({str(run)!r}).where(\"model LIKE '%large%'\")"
    old = 'agreement ~ hedged + statement_length + (1 | item)", by=["model", "condition"])'
    run_changed("explore", {'waver.ask(items, "demo", protocol="agreement", out="runs/explore")': opened, old: slopes,
                            '"attributes.hedged"]': '"negation_cues"]'}, tmp_path)  # fmt: skip
    after = pd.read_csv(tmp_path / "effects.csv")
    part = waver.open(run).where("model LIKE '%large%'")
    before = part.mixed("agreement ~ negation_cues + (1 | item)")
    of_negation = {**TUNED, "term": "negation_cues"}
    for column in ("estimate", "se"):
        show(f"{column} of a negation", *(look_up(table, column, **of_negation) for table in (before, after)))
    assert set(after["engine"].dropna()) == {"pymer4"}
    assert look_up(after, "se", **of_negation) > look_up(before, "se", **of_negation)


def test_correlation_with_ones_own_benchmark_by_pearson_given_size(demo, tmp_path):
    scores = pd.read_csv(ROOT / "inference" / "demo" / "benchmarks.csv")
    mine = pd.DataFrame({"model": scores["model"], "mine": scores[["facts", "reading"]].mean(axis=1)})
    mine.to_csv(tmp_path / "mine.csv", index=False)
    run = demo / "agreement"
    run_changed("benchmarks", {'scores: str = ""': 'scores: str = "mine.csv"',
                               'score_columns: str = ""': 'score_columns: str = "mine"'}, tmp_path,
                runs=[str(run)], out="results")  # fmt: skip
    after = pd.read_csv(tmp_path / "results" / "tables" / "benchmarks.csv")
    row = {"measure": "Range", "benchmark": "mine", "method": "pearson given size"}
    (expected,) = waver.open(run).correlate("Range", mine, method="pearson", given="size")["r"]
    show("r of Range with scores of one's own, given size", None, look_up(after, "r", **row))
    show("and without", None, look_up(after, "r", **{**row, "method": "pearson"}))
    assert look_up(after, "r", **row) == pytest.approx(expected, rel=1e-9)
    assert "mine" not in set(waver.open(run).table("benchmarks")["benchmark"])


def test_kurtosis_corrected_for_sample_size_by_group(demo, tmp_path):
    run = demo / "scoring"
    run_changed("scoring", {"biased: bool = True": "biased: bool = False"}, tmp_path,
                runs=[str(run)], out="results", resamples=20)  # fmt: skip
    keys = ["group", "model", "condition"]
    after = pd.read_csv(tmp_path / "results" / "tables" / "scores.csv").fillna({"condition": ""}).set_index(keys)
    before = waver.open(run).table("scores", resamples=20).fillna({"condition": ""}).set_index(keys)
    for group in sorted(set(after.index.get_level_values("group"))):
        row = {"group": group, "model": "waver-demo-large-tuned", "condition": "chat/0-9/t0.7/exact"}
        show(
            f"kurtosis of large-tuned, {group}", *(look_up(t.reset_index(), "kurtosis", **row) for t in (before, after))
        )
    n, g = before["n"], before["kurtosis"]
    corrected = ((n + 1) * g + 6) * (n - 1) / ((n - 2) * (n - 3))
    pd.testing.assert_series_equal(after["kurtosis"], corrected.reindex(after.index), check_names=False, rtol=1e-9)
