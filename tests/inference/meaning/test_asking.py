"""What models are asked about two texts, how it becomes a score, and that nothing is asked twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ground.errors import InputError, RunFailed
from helpers.meaning_checks import (
    FALSE,
    STATEMENTS,
    TellingModel,
    call_meaning,
    rows_of,
    same_item,
    texts_of,
    write_statements,
)
from helpers.trivial_engine import shown
from inference.meaning.questions import FIELDS, FOLDER, EntailmentQuestions, JudgeQuestions, build_pair_study
from inference.meaning.wordings import Pair
from inference.stimuli.entailment import read_entailment_prompts
from inference.stimuli.nli import LABELS
from inference.stimuli.templates.prompts import PromptBook

NLI = "entailment:nli"
TEA = ("tea", "paraphrase-001")


def call(folder: Path, *words: str, engine: TellingModel | None = None) -> Path:
    """Check the statements of a folder, and return the table."""
    source = folder / "items.csv"
    if not source.exists():
        write_statements(source)
    load = None if engine is None else (lambda model, seed: engine)
    call_meaning(source, *words, "--out", str(folder / "out"), load=load)
    return folder / "out" / "meaning.parquet"


def ask(folder: Path, engine: TellingModel, *words: str) -> Path:
    """Ask one entailment model."""
    return call(folder, "--check", "entailment=owner/x", *words, engine=engine)


def entailment_rows(folder: Path) -> dict:
    return rows_of(folder / "out" / "meaning.parquet", "entailment:owner/x")


def test_either_text_is_the_premise_once_and_the_smaller_probability_counts(tmp_path):
    original, text = STATEMENTS["tea"][:2]

    def says(first: str, second: str) -> float:
        return {(original, text): 0.8, (text, original): 0.3}.get((first, second), 0.5)

    engine = TellingModel(says)
    rows = rows_of(ask(tmp_path, engine), "entailment:owner/x")
    assert rows[TEA]["score"] == 0.3 and rows["dogs", "paraphrase-002"]["score"] == 0.5
    assert rows[TEA] | {"text": text, "decoy": None, "source": None, "study": "items"} == rows[TEA]
    n_pairs = len({(row["item"], row["text"]) for row in rows.values()})
    assert len(engine.asked) == len(set(engine.asked)) == 2 * n_pairs
    assert {pair[::-1] for pair in engine.asked} == set(engine.asked)  # both directions of every pair
    decoys = [row for row in rows.values() if row["decoy"]]
    assert {row["variant"].rpartition("-")[0] for row in decoys} == {f"decoy-{row['decoy']}" for row in decoys}
    assert all(row["source"] for row in decoys) and len(decoys) >= 8
    assert not [
        row for row in rows.values() if row["text"] == original and not row["decoy"]
    ]  # the original itself is not checked


def test_a_judge_counts_as_the_mean_over_both_orders(tmp_path):
    engine = TellingModel(same_item, tilt=0.05, form="plain")
    rows = rows_of(call(tmp_path, "--check", "judge=owner/x", engine=engine), "judge:owner/x")
    original, text = STATEMENTS["tea"][:2]
    assert rows[TEA]["score"] == pytest.approx(same_item(original, text), abs=1e-12)
    assert rows["tea", "paraphrase-003"]["score"] == pytest.approx(0.1)
    originals = {texts[0] for texts in STATEMENTS.values()}
    assert all(engine.asked.count(pair) == 2 and pair[0] in originals for pair in engine.asked)


def test_the_prompts_ask_both_languages_in_both_orders():
    study = build_pair_study("judge", [Pair("お茶は良い。", "お茶は悪い。[INST] <|im_end|>")])
    (variant,) = study.variants
    for language, words in (("en", ("same", "different")), ("ja", ("同じ", "違う"))):
        for form in ("plain", "chat"):
            book = PromptBook.load(None, FOLDER / f"prompt-{language}.yaml", FIELDS)
            prompts = [r.render(variant, None) for r in JudgeQuestions(book).rounds(form)]
            for prompt, order in zip(prompts, (words, words[::-1]), strict=True):
                assert prompt.answers[0][0] == words[0] and prompt.answers[1][0] == words[1]
                assert texts_of(prompt) == ("お茶は良い。", "お茶は悪い。[ INST] < |im_end|>")
                end = shown(prompt).rpartition("===")[2]
                assert end.index(order[0]) < end.index(order[1])
    pair = build_pair_study("entailment", [Pair("お茶は良い。", "お茶は悪い。")])
    (variant,) = pair.variants
    for language in ("en", "ja"):
        rounds = EntailmentQuestions(read_entailment_prompts(language)).rounds("pair")
        assert [texts_of(r.render(variant, None))[0] for r in rounds] == ["お茶は良い。", "お茶は悪い。"]
        assert tuple(words[0] for words in rounds[0].render(variant, None).answers) == LABELS


@pytest.mark.slow
def test_japanese_items_get_japanese_prompts_unless_the_call_says_otherwise(tmp_path):
    pytest.importorskip("fugashi")
    statements = {"茶": ("お茶は良い。", "良いのはお茶だ。"), "犬": ("犬は忠実です。", "犬は忠実な動物です。")}
    seen: list[str] = []

    class Listening(TellingModel):
        def _tell(self, prompt):
            seen.append(shown(prompt))
            return super()._tell(prompt)

    for language in ((), ("--language", "en"), ("--language", "en-US")):
        folder = tmp_path / (language or ("ja",))[-1]
        folder.mkdir()
        write_statements(folder / "items.csv", statements)
        call(folder, "--check", "judge=owner/x", *language, engine=Listening(lambda a, b: 0.5, form="plain"))
        assert all(("同じ意味" in prompt) == (not language) for prompt in seen) and seen
        seen.clear()


@pytest.mark.slow
def test_nothing_is_asked_twice_and_only_what_is_new_is(tmp_path):
    engine = TellingModel(same_item)
    ask(tmp_path, engine)
    before = (tmp_path / "out" / "meaning.parquet").read_bytes()
    engine.asked.clear()
    ask(tmp_path, engine)
    assert engine.asked == [] and (tmp_path / "out" / "meaning.parquet").read_bytes() == before
    more = {**STATEMENTS, "tea": (*STATEMENTS["tea"], "Good is the tea that is hot.")}
    write_statements(tmp_path / "items.csv", more)
    ask(tmp_path, engine)
    new = {text for pair in engine.asked for text in pair} - {STATEMENTS["tea"][0]}
    # The new wording may be drawn as another item's, which is a new decoy; no pair is asked twice.
    assert "Good is the tea that is hot." in new and len(engine.asked) == len(set(engine.asked)) <= 8
    # Its own mind: another check of the same texts is asked about all of them.
    engine.asked.clear()
    call(tmp_path, "--check", "entailment=other=owner/y", engine=engine)
    assert len(engine.asked) > 20
    assert entailment_rows(tmp_path)[TEA] == {**rows_of(tmp_path / "out" / "meaning.parquet", "entailment:other")[TEA],
                                              "check": "entailment:owner/x"}  # fmt: skip


@pytest.mark.slow
def test_what_a_kill_leaves_is_gone_on_with(tmp_path):
    def kill(number: int) -> None:
        if number == 2:
            raise KeyboardInterrupt

    (tmp_path / "a").mkdir()
    killed = TellingModel(same_item, size=4, before_batch=kill)
    with pytest.raises(KeyboardInterrupt):
        ask(tmp_path / "a", killed)
    assert len(killed.asked) == 8 and not (tmp_path / "a" / "out" / "meaning.parquet").exists()
    engine, undisturbed = TellingModel(same_item, size=4), TellingModel(same_item)
    ask(tmp_path / "a", engine)
    (tmp_path / "b").mkdir()
    ask(tmp_path / "b", undisturbed)
    assert len(killed.asked) + len(engine.asked) == len(undisturbed.asked)
    assert entailment_rows(tmp_path / "a") == entailment_rows(tmp_path / "b")


@pytest.mark.slow
def test_a_question_that_fails_has_no_score_and_is_asked_again(tmp_path):
    broken = TellingModel(lambda first, second: None if FALSE in (first, second) else same_item(first, second))
    with pytest.raises(RunFailed, match="out of order"):
        ask(tmp_path, broken)
    rows = entailment_rows(tmp_path)
    assert rows["tea", "paraphrase-003"]["score"] is None and rows[TEA]["score"] > 0.9
    engine = TellingModel(same_item)
    ask(tmp_path, engine)
    assert {FALSE in pair for pair in engine.asked} == {True}
    assert entailment_rows(tmp_path)["tea", "paraphrase-003"]["score"] == 0.1
    (tmp_path / "c").mkdir()
    ask(tmp_path / "c", broken, "--allow-failed", "9")


@pytest.mark.slow
def test_another_prompt_of_a_judge_asks_again(tmp_path):
    engine = TellingModel(same_item, form="plain")
    call(tmp_path, "--check", "judge=owner/x", engine=engine)
    number = len(engine.asked)
    prompt = tmp_path / "mine.yaml"
    lines = ["{{ mark }}", "{{ original }}", "{{ mark }}", "{{ mark }}", "{{ wording }}", "{{ mark }}", "{{ options }}"]
    form = {"template": "\n".join(lines), "answers": {"same": ["alike"], "different": ["unlike"]}}
    prompt.write_text(json.dumps({"plain": form}))
    call(tmp_path, "--check", "judge=owner/x", "--prompt", prompt, engine=engine)
    assert len(engine.asked) == 2 * number


def test_another_model_of_the_same_name_is_refused_where_it_is_not_known_before(tmp_path):
    """A server's model tells its settings only when it is asked: then another name is asked for."""
    ask(tmp_path, TellingModel(same_item, form="plain"))
    write_statements(tmp_path / "items.csv", {**STATEMENTS, "sky": ("The sky is blue.", "Blue is the sky.")})
    with pytest.raises(InputError, match=r"entailment owner/x: .* with revision 1, not 2; give this one another name"):
        ask(tmp_path, TellingModel(same_item, info={"revision": "2"}, form="plain"))


def test_the_record_says_who_was_asked_and_how(tmp_path):
    import pyarrow.parquet as pq

    file = ask(tmp_path, TellingModel(same_item))
    about = json.loads(pq.read_schema(file).metadata[b"waver"])
    assert about["version"] == 1 and len(about["study_hash"]) == 64 and about["sheets"] == {}
    record = about["checks"]["entailment:owner/x"]
    assert record["model"] == "owner/x" and record["revision"] == "1" and record["engine"] == "causal"
    assert record["classes"] == ["contradiction", "entailment", "neutral"] and record["form"] == "pair"
    assert (
        record["prompt_hash"] == read_entailment_prompts("en").compute_hash_of_prompt_form("pair")
        and record["versions"]["pyarrow"]
    )
    assert about["decoys"]["seed"] == 0 and about["decoys"]["pipeline"] is None
    assert set(about["decoys"]["kinds"]) >= {"negated", "other_item", "shuffled"}
    assert about["thresholds"]["entailment:owner/x"]["auc"] > 0.9
