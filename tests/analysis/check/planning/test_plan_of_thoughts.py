"""`waver plan` weighs thoughts against wordings and items by their tokens."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest

from analysis.__main__ import main
from analysis.statistics.reliability.forecast import MeanForecast
from analysis.statistics.reliability.planning import Goal, ThoughtTokens, list_sufficient_designs
from helpers.synthetic import edit_run_json, paraphrases, write_run
from helpers.thinking_runs import FIELDS, THOUGHT, think, write_thinking_run

ITEM, WORDING, REST, NOISE = 0.15, 0.08, 0.05, 0.2  # standard deviations


def drawn_shares(rng, items, wordings, thoughts):
    """Shares of agreement of known components; wordings are shared by all items."""
    return (
        0.5 + rng.uniform(-1, 1, (items, 1, 1)) * ITEM + rng.uniform(-1, 1, (1, wordings, 1)) * WORDING
        + rng.uniform(-1, 1, (items, wordings, 1)) * REST + rng.uniform(-1, 1, (items, wordings, thoughts)) * NOISE
    )  # fmt: skip


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    share = drawn_shares(np.random.default_rng(1), 60, 12, 6)
    closed = np.random.default_rng(2).random(share.shape) < 0.75
    closed[..., 0] = True
    return str(write_thinking_run(tmp_path_factory.mktemp("pilot") / "run", share, closed=closed)), closed


def planned(capsys, *call: str) -> tuple[pd.DataFrame, str]:
    """Run the command; its table, and what it tells beside."""
    assert main(["plan", *call]) == 0
    printed = capsys.readouterr()
    return pd.DataFrame(list(csv.DictReader(io.StringIO(printed.out)))).replace("", "nan").astype(float), printed.err


@pytest.mark.slow
def test_designs_have_thoughts_and_tokens(pilot, capsys):
    path, closed = pilot
    table, told = planned(capsys, path, "--se", "0.04", "--prompt-tokens", "100")
    assert list(table) == ["items", "wordings", "thoughts", "prompts", "tokens", "cost", "standard_error"]
    length = 22.5  # of thoughts of 20, 21 ... 25 tokens
    answers = table["items"] * table["wordings"]
    assert (table["prompts"] == answers).all() and (table["tokens"] == table["cost"]).all()
    np.testing.assert_allclose(table["tokens"], answers * (100 + table["thoughts"] * length), atol=0.51)
    assert table["tokens"].is_monotonic_increasing and (table["standard_error"] <= 0.04).all()
    assert "a thought takes 22 tokens in the pilot" in told and f"{closed.mean():.0%}".replace("%", " %") in told
    assert "a prompt counts like 100 (as given)" in told


@pytest.mark.slow
def test_the_dearer_the_prompt_the_more_thoughts(pilot, capsys):
    cheap, dear = (planned(capsys, pilot[0], "--se", "0.04", "--prompt-tokens", n)[0].iloc[0] for n in ("0", "2000"))
    assert cheap["thoughts"] < dear["thoughts"]


@pytest.mark.slow
def test_the_error_of_a_design_is_that_of_studies_of_its_size(pilot, capsys):
    """Studies with as many items, wordings and thoughts, drawn again: within what a pilot of 12 wordings can tell."""
    table, _ = planned(capsys, pilot[0], "--se", "0.04")
    design = table[(table["wordings"] == 4) & (table["thoughts"] == 3)].iloc[0]
    rng, items = np.random.default_rng(3), int(design["items"])
    means = []
    for _ in range(1_500):
        ended = rng.random((items, 4, 3)) < 0.75
        ended[..., 0] = True
        means.append((drawn_shares(rng, items, 4, 3) * ended).sum(axis=2) / ended.sum(axis=2))
    actual = np.std([mean.mean() for mean in means])
    assert design["standard_error"] == pytest.approx(actual, rel=0.3)


def test_costs_are_added_up():
    forecast = MeanForecast(0.04, 0.0, 0.03, noise=0.01, sample=0.08)
    tokens = ThoughtTokens(prompt=50, thought=200, answered=0.8)
    designs = list_sufficient_designs(
        [forecast], Goal(0.03), crossed=False, samples=(1, 4), cost_item=2.0, cost_wording=0.5, cost_token=1e-3,
        tokens=tokens,
    )  # fmt: skip
    assert designs
    for design in designs:
        answers, texts = design.items * design.wordings, design.samples or 0
        assert design.tokens == answers * (50 + 200 * texts) and design.prompts == answers
        assert design.cost == pytest.approx(design.items * 2 + answers * 0.5 + design.tokens / 1_000)
        variance = (0.04 + (0.02 + 0.08 / (0.8 * texts)) / design.wordings) / design.items
        assert design.error == pytest.approx(variance**0.5) and design.error <= 0.03


@pytest.mark.slow
def test_costs_of_tokens_are_refused_where_no_number_of_thoughts_is_planned(pilot, capsys):
    for option in (["--cost-token", "1"], ["--prompt-tokens", "5"]):
        assert main(["plan", pilot[0], "--se", "0.1", "--measure", "sd", *option]) == 2
        assert "a plan of this measure chooses no number of them" in capsys.readouterr().err


@pytest.mark.slow
def test_a_condition_of_several_is_planned(tmp_path, capsys):
    share = drawn_shares(np.random.default_rng(4), 20, 5, 4)
    rows = pd.DataFrame([
        {"item": f"i{i:02d}", "variant": f"p{w}", "model": "m", "attributes": [("template", f"t{w}")]}
        for i in range(20) for w in range(5)
    ])  # fmt: skip
    thoughts = think(rows, np.stack([share, 1 - share], axis=-1).reshape(-1, 4, 2))
    plain = rows.assign(condition="plain/yes-no", agreement=share.mean(axis=2).ravel())
    plain = plain.assign(
        probability=[[value, 1 - value] for value in plain["agreement"]], mass=1.0
    ).drop(columns="agreement")  # fmt: skip
    path = write_run(
        tmp_path / "run", pd.concat([plain, thoughts], ignore_index=True), conditions={THOUGHT: FIELDS}
    )  # fmt: skip
    entry = {"models": ["m"], "item": "i00", "variant": "p0", "prompt": "x" * 240, "characters": 240, "wordings": None}
    edit_run_json(path, asked={THOUGHT: [entry]})
    table, _ = planned(capsys, str(path), "--se", "0.06")
    assert "samples" in table
    table, told = planned(capsys, str(path), "--se", "0.06", "--condition", THOUGHT)
    assert "thoughts" in table and "counts like 60 (taken to be its characters / 4)" in told
    assert main(["plan", str(path), "--se", "0.06", "--condition", "plain/yes-no/thoughts"]) == 2
    assert "the nearest is 'plain/yes-no/thought'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (["--cost-token", "1"], "are about thoughts"), (["--prompt-tokens", "5"], "are about thoughts"),
        (["--prompt-tokens", "-1"], "give a number of tokens from 0 on"),
        (["--cost-token", "-1"], "give a cost from 0 on"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_options_about_thoughts_need_some(option, says, tmp_path, capsys):
    frame = paraphrases({name: list(np.random.default_rng(5).uniform(0.1, 0.9, 5)) for name in "abcdef"})
    frame["agreement"] = np.random.default_rng(6).uniform(0.05, 0.95, len(frame))
    frame["text"] = [f"{n * n} {n % 7}" for n in range(len(frame))]
    texts = frame.drop(columns="agreement").assign(count=[[1, 2], [2, 1], [3, 0]] * 10, invalid=0)
    for name, rows in (("texts", texts), ("probabilities", frame)):
        path = write_run(tmp_path / name, rows)
        assert main(["plan", str(path), "--se", "0.1", *option]) == 2
        assert says in capsys.readouterr().err
