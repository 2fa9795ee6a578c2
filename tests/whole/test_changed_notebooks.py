"""Six changes that a researcher makes to a copy of a notebook, in at most three lines each: the number that changes."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import textwrap
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import nbformat
import pandas as pd
import pytest
import yaml

import waver
from helpers.commands import ROOT
from helpers.commands import waver as run_command
from helpers.text_features import hide

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
MODELS = ROOT / "inference" / "demo" / "models"
FRAMES = ("In ", "When ", "Compared ")


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    """Runs as those of `make report`, of fewer questions to fewer models: what changes is the same."""
    folder = tmp_path_factory.mktemp("demo")
    largest = [MODELS / f"waver-demo-{name}" for name in ("large", "large-tuned")]
    sizes = [MODELS / f"waver-demo-{name}" for name in ("mini", "small", "medium")]  # a correlation wants four
    waver.ask("demo", [*sizes, *largest], out=folder / "agreement", wordings=10, limit=16)
    with pytest.MonkeyPatch.context() as patch:
        hide(patch, "pysentimiento", "spacy", "vaderSentiment")  # no change is about what these find
        run_command("analysis", "features", folder / "agreement")
    waver.ask("demo", largest, protocol="scoring", out=folder / "scoring", exact=True, temperature=0.7)
    return folder


@pytest.fixture(scope="module")
def hedged(tmp_path_factory) -> Path:
    """The demo's questions with a column that only their author knows: does it begin with a frame?"""
    text = (ROOT / "inference" / "demo" / "questionnaire.yaml").read_text(encoding="utf-8")
    items = pd.DataFrame(
        [
            {"item": item["item"], "text": wording, "hedged": int(wording.startswith(FRAMES))}
            for item in yaml.safe_load(text)[:16]
            for wording in [item["text"], *item["paraphrases"][:8]]
        ]
    )
    out = tmp_path_factory.mktemp("hedged") / "run"
    waver.ask(items, [MODELS / "waver-demo-large", MODELS / "waver-demo-large-tuned"], out=out)
    return out


def read_change(title: str) -> tuple[str, dict[str, str]]:
    """The notebook that a change on the page is made in, and its lines without comments: old -> new."""
    section = PAGE.partition(f"### {title}\n")[2].partition("\n#")[0]
    lines = re.findall(r"^ {4}([-+])(.*)$", section, re.M)
    old, new = ([line for sign, line in lines if sign == wanted] for wanted in "-+")
    assert 1 <= len(old) == len(new) <= 3
    return re.search(r"`(\w+)\.ipynb`", section)[1], dict(zip(old, new, strict=True))


def run_changed(titles: list[str], folder: Path, **parameters: object) -> None:
    """Make changes of the page in a copy of their notebook, and run its cells in a folder, but for those of figures.

    They run in this process, where R starts once for all files: reports run every notebook in a kernel.
    """
    names, parts = zip(*map(read_change, titles), strict=True)
    (name,), changes = set(names), {old: new for part in parts for old, new in part.items()}
    print(f"\n## {', '.join(titles)}\nnotebooks/{name}.ipynb")
    node = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", 4)
    made = []
    for cell in node.cells:
        lines = cell.source.splitlines()
        for place, line in enumerate(lines):
            code, mark, comment = line.partition("  # ")
            if cell.cell_type == "code" and code in changes:
                made.append(code)
                print(f"-{code}\n+{changes[code]}")
                lines[place] = changes[code] + mark + comment
        cell.source = "\n".join(lines)
    assert sorted(made) == sorted(changes)
    names: dict = {"display": lambda shown: None}
    with contextlib.chdir(folder):
        for cell in node.cells:
            if cell.cell_type != "code" or cell.source.startswith("page.figure("):
                continue
            exec(compile(cell.source, f"{name}.ipynb", "exec"), names)
            if "parameters" in cell.metadata.get("tags", []):
                names.update(parameters)


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


def test_drop_wordings_with_a_negation_and_another_flip_rule(demo, tmp_path):
    run = demo / "agreement"
    titles = ["Drop wordings with a negation", "Another flip rule"]
    run_changed(titles, tmp_path, runs=[str(run)], out="results", resamples=20)
    after = pd.read_csv(tmp_path / "results" / "tables" / "stability.csv")
    before = waver.open(run).table("stability", resamples=20)
    show("range of large-tuned", *(look_up(table, "range_mean", **TUNED) for table in (before, after)))
    show("its paraphrases", *(int(look_up(table, "n_variants", **TUNED)) for table in (before, after)))
    part = waver.open(run).where("negation_cues = 0")
    of_part = look_up(part.table("stability", resamples=20), "range_mean", **TUNED)
    assert look_up(after, "range_mean", **TUNED) == pytest.approx(of_part, rel=1e-12)
    assert look_up(after, "range_mean", **TUNED) < look_up(before, "range_mean", **TUNED)
    assert look_up(after, "n_variants", **TUNED) < look_up(before, "n_variants", **TUNED)
    assert "flip_20" not in before and "flip_10" not in after
    items = part.table("items").query("model == @TUNED['model'] and condition == @TUNED['condition']")
    shares = [(items["minority_share"] > threshold).mean() for threshold in (0.1, 0.2)]
    assert look_up(after, "flip_20", **TUNED) == pytest.approx(shares[1]) and shares[0] != shares[1]


def test_one_more_predictor_of_ones_own(hedged, tmp_path):
    run_changed(["One more predictor of your own"], tmp_path, runs=[str(hedged)], out="results")
    after = pd.read_csv(tmp_path / "results" / "tables" / "mixed.csv")
    before = waver.open(hedged).table("mixed")
    of_length = {**TUNED, "term": "statement_length"}
    show("effect of a statement's length", *(look_up(table, "estimate", **of_length) for table in (before, after)))
    show("effect of hedging", None, look_up(after, "estimate", **TUNED, term="attributes.hedged"))
    assert "attributes.hedged" not in set(before["term"])
    assert look_up(after, "estimate", **of_length) != look_up(before, "estimate", **of_length)


@pytest.mark.skipif(not find_spec("pymer4") or not which("R"), reason="R or pymer4 is not installed")
def test_random_slopes_through_pymer4(demo, tmp_path):
    for name in ("results", "mine"):
        (tmp_path / name).mkdir()
    (tmp_path / "results" / "demo").symlink_to(demo, target_is_directory=True)
    run_changed(["Random slopes, by lme4"], tmp_path / "mine")
    after = pd.read_csv(tmp_path / "mine" / "effects.csv")
    part = waver.open(demo / "agreement").where("model LIKE '%large%'")
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
    run_changed(["A benchmark of your own, by Pearson given size"], tmp_path, runs=[str(run)], out="results")
    after = pd.read_csv(tmp_path / "results" / "tables" / "benchmarks.csv")
    row = {"measure": "Range", "benchmark": "mine", "method": "pearson given size"}
    (expected,) = waver.open(run).correlate("Range", mine, method="pearson", given="size")["r"]
    show("r of Range with scores of one's own, given size", None, look_up(after, "r", **row))
    show("and without", None, look_up(after, "r", **{**row, "method": "pearson"}))
    assert look_up(after, "r", **row) == pytest.approx(expected, rel=1e-9)
    assert "mine" not in set(waver.open(run).table("benchmarks")["benchmark"])


def test_kurtosis_corrected_for_sample_size_by_group(demo, tmp_path):
    run = demo / "scoring"
    title = "Kurtosis corrected for sample size, by group"
    run_changed([title], tmp_path, runs=[str(run)], out="results", resamples=20)
    keys = ["group", "model", "condition"]
    after = pd.read_csv(tmp_path / "results" / "tables" / "scores.csv").fillna({"condition": ""}).set_index(keys)
    before = waver.open(run).table("scores", resamples=20).fillna({"condition": ""}).set_index(keys)
    for group in sorted(set(after.index.get_level_values("group"))):
        row = {"group": group, "model": "waver-demo-large-tuned", "condition": "chat/0-9/t0.7/exact"}
        numbers = [look_up(table.reset_index(), "kurtosis", **row) for table in (before, after)]
        show(f"kurtosis of large-tuned, {group}", *numbers)
    n, g = before["n"], before["kurtosis"]
    corrected = ((n + 1) * g + 6) * (n - 1) / ((n - 2) * (n - 3))
    pd.testing.assert_series_equal(after["kurtosis"], corrected.reindex(after.index), check_names=False, rtol=1e-9)


def test_a_predictor_of_ones_own_from_end_to_end(tmp_path):
    """The file and the first two calls of the page; the third makes a report of the same."""
    section = PAGE.partition("## A predictor of your own, from end to end\n")[2].partition("\n## ")[0]
    table, calls = [textwrap.dedent(block) for block in re.findall(r"(?<=\n\n)(?: {4}.*\n)+", section)]
    (tmp_path / "hedged.csv").write_text(table, encoding="utf-8")
    asking, reading, _ = (shlex.split(call)[1:] for call in calls.splitlines())
    run_command("inference", *asking, cwd=tmp_path)
    assert reading[-2:] == [">", "mixed.csv"]
    printed = run_command("analysis", *reading[:-2], cwd=tmp_path).stdout
    effects = pd.read_csv(io.StringIO(printed))
    assert set(effects["term"]) == {"(Intercept)", "statement_length", "attributes.hedged"}
    from_python = waver.open(tmp_path / "runs" / "hedged").mixed("agreement ~ statement_length + hedged + (1 | item)")
    keys = ["model", "condition", "term"]
    both = effects.merge(from_python, on=keys)
    assert len(both) == len(effects)
    pd.testing.assert_series_equal(both["estimate_x"], both["estimate_y"], check_names=False, rtol=1e-9)
