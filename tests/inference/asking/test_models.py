"""Which models are asked: their ids, where they are, and what a file says about them."""

from __future__ import annotations

import pytest

from ground.errors import InputError
from inference.asking.models import (
    Model,
    find_requested_models,
    read_model_fields_from_yaml,
    require_distinct_model_ids,
)
from inference.engines import ENGINES


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("one", "other/one", "a=b"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_ids(folder):
    absolute = str(folder / "one")
    assert find_requested_models(["owner/model"]) == (Model("owner/model", "owner/model"),)
    assert find_requested_models(["gpt2"]) == (Model("gpt2", "gpt2"),)
    assert find_requested_models(["one"]) == (Model("one", "one"),)
    assert find_requested_models([absolute + "/"])[0].id == "one"
    assert find_requested_models(["."])[0].id == folder.name
    assert find_requested_models([f"mine={absolute}", "m2=owner/model"]) == (
        Model("mine", absolute),
        Model("m2", "owner/model"),
    )
    assert find_requested_models(["a=b"]) == (Model("a=b", "a=b"),)  # a folder of that very name


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["one", "other/one"], "'one' names both one and other/one; name one as NAME=PATH"),
        (["one", "./one/"], "--model: 'one' is given twice; give it once"),
        (["gpt2", "gpt2"], "--model: 'gpt2' is given twice; give it once"),
        (["x=one", "x=gpt2"], "'x' names both one and gpt2"),
        (["./missing"], "./missing: no such folder"),
        (["a/b/c"], "a/b/c: no such folder"),
        (["x=/missing"], "/missing: no such folder"),
        (["file"], "file: this is a file; give the folder that holds the model"),
        ([""], "--model: is empty; give a hub id"),
        (["=one"], "expected NAME=PATH with both parts"),
        (["one="], "expected NAME=PATH with both parts"),
        (["one= "], "expected NAME=PATH with both parts"),
        (["waver-demo-smal"], "no demo model has this name .the nearest is 'waver-demo-small'"),
    ],
)
def test_refused(folder, names, message):
    with pytest.raises(InputError, match=message):
        find_requested_models(names)


def test_a_demo_model_is_found_by_its_name(folder):
    """Reports and messages name it so, and `--model waver-demo-small` was looked for on the hub."""
    (small,) = find_requested_models(["waver-demo-small"])
    assert small == next(model for model in find_requested_models(["demo"]) if model.id == "waver-demo-small")
    assert find_requested_models(["mine=waver-demo-small"])[0] == Model("mine", small.source, small.fields)
    (folder / "waver-demo-small").mkdir()  # a folder of this name comes first
    assert find_requested_models(["waver-demo-small"]) == (Model("waver-demo-small", "waver-demo-small"),)


def test_demo_is_the_whole_family_in_order():
    from inference.demo import ENCODERS, FAMILY

    models = find_requested_models(["demo", "gpt2"])
    assert [model.id for model in models] == [*FAMILY, "gpt2"]
    assert [model.id for model in find_requested_models(["demo"], ("classifier",))] == list(ENCODERS)
    for model in models[:-1]:
        assert model.source == str(FAMILY[model.id].path)
        assert model.fields == {"series": FAMILY[model.id].series, "stage": FAMILY[model.id].stage}


def test_demo_is_those_that_think_where_thoughts_are_asked_for():
    from inference.demo import ALL, THINKERS

    assert [model.id for model in find_requested_models(["demo"], thinking=True)] == list(THINKERS)
    assert not THINKERS.keys() & {
        model.id for model in find_requested_models(["demo"], ("causal", "masked", "classifier"))
    }
    assert THINKERS.keys() < ALL.keys()
    with pytest.raises(InputError, match="none of the demo models is for --engine masked"):
        find_requested_models(["demo"], engine="masked", thinking=True)


def test_demo_is_those_that_a_protocol_names_unless_thoughts_are_asked_for():
    from inference.demo import RATERS, THINKERS

    assert [model.id for model in find_requested_models(["demo"], demo_models=RATERS)] == list(RATERS)
    assert [model.id for model in find_requested_models(["demo"], thinking=True, demo_models=RATERS)] == list(THINKERS)
    assert not RATERS.keys() & {
        model.id for model in find_requested_models(["demo"], ("causal", "masked", "classifier"))
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_demo_is_those_that_the_engine_can_ask(engine):
    from inference.demo import ENCODERS, FAMILY

    models = find_requested_models(["demo"], ("causal", "masked", "classifier"), engine)
    assert [model.id for model in models] == [
        name for name, about in (FAMILY | ENCODERS).items() if about.family == ENGINES[engine].kind
    ]
    on_a_server = [model for model in models if model.source == model.id]
    assert on_a_server == (list(models) if engine == "openai" else [])


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (("x" * 10**5,), "^--model 'x{37}...': not a name; use at most [0-9,]+ characters that can be seen$"),
        ((), r"^--lora 'a\\x01b': not a name; use at most [0-9,]+ characters that can be seen$"),
    ],
)
def test_names_that_are_none(models, message):
    adapter = Model("a\x01b", "gpt2", adapter=object())
    with pytest.raises(InputError, match=message):
        require_distinct_model_ids([Model(name, name) for name in models] or [adapter])


def test_descriptions(tmp_path):
    file = tmp_path / "models.yaml"
    file.write_text("a: {series: s, stage: base, parameters: 7000000000, revision: main}\nb: {}\n", encoding="utf-8")
    assert read_model_fields_from_yaml(str(file)) == {
        "a": {"series": "s", "stage": "base", "parameters": 7_000_000_000, "revision": "main"},
        "b": {},
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: {sereis: s}", "model 'a': unknown field 'sereis'; there are series, stage, family, parameters, revision"),
        ("a: {stage: big}", "model 'a': stage must be one of base, instruct, tuned, not 'big'"),
        ("a: {family: cats}", "family must be one of causal, masked, not 'cats'"),
        ("a: {parameters: 7B}", "model 'a': parameters must be a whole number above 0 .*, not '7B'"),
        ("a: {parameters: true}", "parameters must be a whole number above 0 .*, not True"),
        ("a: {revision: 3}", "revision must be text, not 3"),
        ("- a", "expected model ids, each with fields"),
        ("a: b", "expected model ids, each with fields"),
        ("", "expected model ids, each with fields"),
        ("a: [", "line 1: malformed YAML"),
    ],
)
def test_wrong_descriptions(tmp_path, content, message):
    file = tmp_path / "models.yaml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read_model_fields_from_yaml(str(file))
    assert str(caught.value).startswith(str(file))


def test_no_descriptions_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_model_fields_from_yaml(str(tmp_path / "missing.yaml"))
