"""Of several models, those that can be asked are; the others are named at once and in the end."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from ground.errors import InputError, NoSuchModel, RunFailed
from helpers.trivial_engine import TrivialEngine, small_study
from inference.__main__ import main
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.failures import (
    NO_FAILURES,
    describe_conditions_of_low_option_mass,
    describe_remedy_for_failed_rows,
    refuse_too_many_failures_or_unasked_models,
)
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.asking.session import Tally, print_prompt_and_failure_counts
from inference.engines.contract import PAST_WINDOW, Score
from inference.protocols.agreement import Questions, read_agreement_prompts

A, BAD, C = (Model(name, f"somewhere/{name}") for name in ("a", "bad", "c"))


def load(model: Model, seed: int) -> TrivialEngine:
    print(f"loads {model.id}")
    if model.id.startswith("bad"):
        raise InputError(f"model {model.id}: the folder holds no weights")
    return TrivialEngine()


def tasks(folder: Path, *models: Model, names: tuple[str, ...] = ("one",)) -> list[Task]:
    return [
        Task(
            small_study(items=2, name=name), models, Questions(read_agreement_prompts()), Settings(), str(folder / name)
        )
        for name in names
    ]


def models_of(out: Path) -> set[str]:
    return {model for part in out.glob("responses/part-*") for model in pq.read_table(part)["model"].to_pylist()}


@pytest.mark.slow
def test_the_good_ones_are_asked_and_the_bad_one_is_named_twice(tmp_path, capsys):
    with pytest.raises(RunFailed, match=r"not asked: bad \(.*one\): model bad: the folder holds no weights"):
        ask_tasks_and_list_tallies(tasks(tmp_path, A, BAD, C), load=load)
    said = capsys.readouterr()
    assert said.out.split() == ["loads", "a", "loads", "bad", "loads", "c"]
    assert [line.partition(":")[0] for line in said.err.splitlines()] == ["a", "bad", "c"]
    assert models_of(tmp_path / "one") == {"a", "c"}


def test_a_bad_model_is_loaded_once_for_all_studies(tmp_path, capsys):
    with pytest.raises(RunFailed, match=r"bad \(.*one\).*bad \(.*two\)"):
        ask_tasks_and_list_tallies(tasks(tmp_path, BAD, C, names=("one", "two")), load=load)
    assert capsys.readouterr().out.split() == ["loads", "bad", "loads", "c"]
    assert [models_of(tmp_path / name) for name in ("one", "two")] == [{"c"}, {"c"}]


@pytest.mark.parametrize("names", [("two", "one"), ("one", "two")])
@pytest.mark.parametrize("is_looked_for_before", [True, False])
def test_a_study_that_is_finished_is_not_called_unasked(tmp_path, monkeypatch, names, is_looked_for_before):
    gone = Model("bad", "bad")

    def refuse(self, model, seed=0):
        return load(model, seed)

    ask_tasks_and_list_tallies(tasks(tmp_path, gone, names=("one",)), load=lambda model, seed: TrivialEngine())
    monkeypatch.setattr(Settings, "load_model_engine", refuse)
    monkeypatch.setattr(Settings, "refuse_missing_model", refuse if is_looked_for_before else lambda self, model: None)
    with pytest.raises(RunFailed) as failure:
        ask_tasks_and_list_tallies(tasks(tmp_path, gone, C, names=names))
    assert f"bad ({tmp_path / 'two'})" in str(failure.value) and f"bad ({tmp_path / 'one'})" not in str(failure.value)


def test_where_no_model_can_be_asked_the_call_is_refused_and_nothing_is_left(tmp_path):
    for models in ((BAD,), (BAD, Model("bad2", "somewhere/bad2"))):
        with pytest.raises(InputError, match="model bad: the folder holds no weights"):
            ask_tasks_and_list_tallies(tasks(tmp_path, *models), load=load)
        assert not list(tmp_path.iterdir())


def test_all_models_are_looked_for_before_the_first_is_loaded(tmp_path, monkeypatch, capsys):
    """The nearest folder with a model is named; a folder without one is not."""
    monkeypatch.chdir(tmp_path)
    for name in ("my-model", "other"):
        Path(name).mkdir()
    Path("my-model", "config.json").write_text("{}", encoding="utf-8")
    Path("items.csv").write_text("item,text\na,One.\n", encoding="utf-8")

    def look_up(name: str, revision: str | None) -> None:
        if name == "my-modle":
            raise NoSuchModel(f"model {name} cannot be loaded: not there")

    monkeypatch.setattr("inference.engines.loading.find_and_check_config_file", look_up)
    monkeypatch.setattr(Settings, "load_model_engine", lambda self, model, seed: load(model, seed))
    call = ["run", "agreement", "--items", "items.csv", "--out", "run", "--model", "good", "my-modle"]
    assert main(call) == 1
    said = capsys.readouterr()
    assert said.out == "loads good\n"
    first, *_, last = (line for line in said.err.splitlines() if "my-modle" in line)
    hint = "model my-modle cannot be loaded: not there (the nearest is './my-model')"
    assert first == f"my-modle: not asked: {hint}"
    assert hint in last and "correct these names or leave them out" in last
    assert main([*call[:-2], "./my-modle"]) == 2
    assert "--model ./my-modle: no such folder (the nearest is './my-model')" in capsys.readouterr().err


def tally(error: str, failed: int = 2) -> Tally:
    too_long = failed if PAST_WINDOW in error else 0
    return Tally(
        "m", "plain", rows=4, asked_count=4, failed=failed, too_long=too_long, first_error=f"a/original: {error}"
    )


def test_the_line_says_what_can_help():
    """A prompt beyond the window stays beyond it; where nothing came back, nothing was saved."""
    too_long = tally(f"900 tokens and 1 for the answer {PAST_WINDOW} of 512")
    with pytest.raises(RunFailed) as failure:
        refuse_too_many_failures_or_unasked_models({"run": (NO_FAILURES, [too_long])}, {})
    assert "2 of 4 rows have no response" in str(failure.value) and "all others are saved" in str(failure.value)
    assert "asking again cannot help" in str(failure.value) and "same command again" not in str(failure.value)
    with pytest.raises(RunFailed) as failure:
        refuse_too_many_failures_or_unasked_models({"run": (NO_FAILURES, [tally("HTTP 500", failed=4)])}, {})
    assert "4 of 4 rows" in str(failure.value) and "others are saved" not in str(failure.value)
    assert "give the same command again" in str(failure.value)
    with pytest.raises(RunFailed) as failure:
        refuse_too_many_failures_or_unasked_models(
            {"run": (NO_FAILURES, [too_long]), "other": (NO_FAILURES, [tally("HTTP 500")])}, {}
        )
    assert "asking again cannot help" in str(failure.value) and "give the same command again" in str(failure.value)


def test_the_first_error_does_not_hide_others(capsys):
    """Of prompts too long and a server's errors, both are advised on; of too long ones alone, none is asked again."""
    variant = next(iter(small_study(items=1).variants))
    mixed = Tally("m", "plain", rows=2)
    for error in (f"900 tokens and 1 for the answer {PAST_WINDOW} of 512", "HTTP 500"):
        mixed.add(variant, SimpleNamespace(error=error), {})
    assert "asking again cannot help" in describe_remedy_for_failed_rows(
        [mixed]
    ) and "same command again" in describe_remedy_for_failed_rows([mixed])
    print_prompt_and_failure_counts("m", [mixed], 0.1)
    assert "the same command asks them again" in capsys.readouterr().err
    print_prompt_and_failure_counts("m", [tally(PAST_WINDOW)], 0.1)
    assert "again" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"mass": 0.052}] * 3, "at most 6 % of the probability is on the options in 3 of 3 responses; look"),
        (
            [{"mass": 0.2}, {"mass": 0.491}, {"mass": 0.9}],
            "at most 50 % of the probability is on the options in 2",
        ),
        ([{"mass": 0.2}, {"mass": 0.5}], ""),  # not most of them
        ([{"mass": 0.1, "mass_upper": 0.3}], "at most 30 % of the probability is on the options in 1 of 1"),
        ([{"mass": 0.1, "mass_upper": 0.6}], ""),  # the server did not show enough to tell
        ([{"mass": 0.07, "mass_upper": None}], "at most 7 %"),
        ([{"output": ["Yes."]}, {"score": 3.0}], ""),
    ],
)
def test_a_condition_is_named_where_most_responses_hardly_have_an_option(rows, said):
    counts = Tally("m", "plain/yes-no", study="tea")
    variant = next(iter(small_study(items=1).variants))
    for row in rows:
        counts.add(variant, SimpleNamespace(error=None), row)
    counts.add(variant, SimpleNamespace(error="HTTP 500"), {"error": "HTTP 500"})
    lines = list(describe_conditions_of_low_option_mass([counts]))
    assert len(lines) == bool(said) and "".join(lines).startswith(f"m, plain/yes-no: {said}" if said else "")


def test_of_several_studies_the_line_names_the_study_and_many_lines_are_counted():
    low = [Tally("m", str(n), asked_count=1, low_mass=1, largest_low_mass=0.1, study="tea") for n in range(23)]
    lines = list(describe_conditions_of_low_option_mass(low, with_study=True))
    assert lines[0].startswith("tea, m, 0: at most 10 %")
    assert lines[20:] == ["the same holds of most responses of 3 more models and conditions"]


def test_no_probability_is_said_to_be_at_most_zero():
    low = [Tally("m", "plain", asked_count=1, low_mass=1, largest_low_mass=6e-13)]
    assert next(describe_conditions_of_low_option_mass(low)).startswith("m, plain: at most 1 % of the probability")


@pytest.mark.slow
@pytest.mark.parametrize("is_low", [True, False])
def test_a_run_ends_with_a_line_on_a_model_that_hardly_says_an_option(is_low, tmp_path, monkeypatch, capsys):
    """The status stays 0; a second call asks nothing, and says nothing."""

    class Engine(TrivialEngine):
        def _score(self, text, batch):
            return Score((0.04, 0.01), (-3.2, -4.6), 0.05, 0) if is_low else Score((0.6, 0.3), (-0.5, -1.2), 0.9, 0)

    monkeypatch.setattr(Settings, "load_model_engine", lambda self, model, seed: Engine())
    (tmp_path / "i.csv").write_text("item,text\na,Tea is good.\na,I like tea.\na,Tea is fine.\n")
    call = [
        "run",
        "agreement",
        "--items",
        str(tmp_path / "i.csv"),
        "--model",
        "owner/m",
        "--out",
        str(tmp_path / "run"),
    ]
    assert main(call) == 0
    last = capsys.readouterr().err.splitlines()[-1]
    line = "owner/m, plain/yes-no: at most 5 % of the probability is on the options in 3 of 3 responses"
    assert last.startswith(line) is is_low and ("waver preview" in last) is is_low
    assert main(call) == 0
    assert "of the probability" not in capsys.readouterr().err
