"""All tables and rows of a part equal those of a run that was asked with that part only, for every protocol."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.pages.stability.page import StabilityPage
from analysis.reporting import words
from analysis.reporting.catalogue import map_page_names_to_catalogues, tables
from analysis.reporting.output.provenance import list_provenance_entries
from ground.errors import InputError
from helpers import choice_runs, scoring_runs, wording_runs
from helpers.commands import waver
from helpers.figures import shown_texts
from helpers.page_runs import BARE, FULL, STAGES
from helpers.part_runs import write_asked_part
from waver import open as open_run

pytestmark = pytest.mark.slow

# Page -> condition, and the same as functions of a row of the stimuli, and of study, model and condition.
PARTS = {
    "stability": ("model = 'bert' AND item NOT IN ('item-0', 'item-3')",
                  lambda row: row["item"] not in ("item-0", "item-3"), lambda row: row["model"] == "bert"),
    "text_features": ("condition NOT LIKE '%/text' AND (source = 'a' OR pattern = 'original')",
                      lambda row: row["pattern"] == "original" or dict(row["attributes"])["source"] == "a",
                      lambda row: not row["condition"].endswith("/text")),
    "wording": ("pattern IN ('original', 'synonym') AND stage = 'base'",
                lambda row: row["pattern"] in ("original", "synonym"), lambda row: row["model"] in ("small", "large")),
    "scoring": ("condition LIKE 'plain%' AND item NOT LIKE '%1'",
                lambda row: not row["item"].endswith("1"), lambda row: row["condition"].startswith("plain")),
    "negation": ("model = 'org/two' AND NOT item LIKE '%3'",
                 lambda row: not row["item"].endswith("3"), lambda row: row["model"] == "org/two"),
    "choice": ("model <> 'org/small' AND attributes.subset = 'math reasoning'",
               lambda row: dict(row["attributes"])["subset"] == "math reasoning",
               lambda row: row["model"] != "org/small"),
    "reliability": ("model LIKE 'small%'", lambda row: True, lambda row: row["model"].startswith("small")),
}  # fmt: skip


def write_few_questions(path):
    rows = wording_runs.random_rows(list(STAGES), items=16, conditions=["chat/0-shot", "chat/4-shot"], seed=1)
    return wording_runs.write_wording(path, rows, models=STAGES), {}


def write_few_choices(path):
    asked = choice_runs.questions(12, 3, subsets=("general knowledge", "math reasoning"))
    ways = [choice_runs.LETTER, choice_runs.TEXTS, choice_runs.TEXT, choice_runs.AWARE]
    rows = choice_runs.answers(asked, ["org/small", "org/large"], conditions=ways, unparsed=0.1)
    return choice_runs.write_choice(path, rows), {}


def write_few_scores(path):
    judges = dict(list(scoring_runs.FAMILY.items())[:2])
    groups = {"En-De": 6, "Et-En": 6}
    return scoring_runs.make_run(path, groups, family=judges, ranges=((0, 9),)), {}


# Runs that are smaller than those of their pages, and still have whatever those have.
SMALLER = {
    "scoring": write_few_scores,
    "wording": write_few_questions,
    "choice": write_few_choices,
}


@pytest.fixture(scope="module", params=PARTS)
def compared(request, tmp_path_factory):
    """A part of a run, and the run that was asked with the part only."""
    folder = tmp_path_factory.mktemp(request.param)
    condition, keeps_wording, keeps_unit = PARTS[request.param]
    source, _ = (FULL | SMALLER)[request.param](folder / "run")
    part = open_run(source).where(condition)
    return part, open_run(write_asked_part(source, folder / "asked" / "run", keeps_wording, keeps_unit))


def tables_of(run, names):
    """Tables of a run, or why there is none, in words that do not name the folder."""
    found = {}
    for name in names:
        options = {"resamples": 2} if "resamples" in tables.list_table_options(name) else {}
        try:
            found[name] = run.table(name, **options)
        except InputError as error:
            found[name] = str(error).replace("/asked", "")
    return found


def test_all_tables_are_those_of_a_run_of_the_part_alone(compared, request):
    """Those of its page; of the run of `stability`, also those of others, but of two that have a run of their own."""
    page, run, pages = request.node.callspec.params["compared"], compared[1], map_page_names_to_catalogues()
    own = {*pages[page].tables, *(pages["benchmarks"].tables if page == "choice" else ())}
    if page == "stability":
        own = set(run.tables()).difference(pages["text_features"].tables, pages["benchmarks"].tables)
    part, asked = (tables_of(run, [name for name in run.tables() if name in own]) for run in compared)
    assert list(compared[0].tables()) == list(run.tables())
    assert part
    for name, frame in asked.items():
        if isinstance(frame, str):
            assert part[name] == frame, name
        else:  # sums of floating-point numbers in another order differ in their last digits
            pd.testing.assert_frame_equal(part[name], frame, rtol=1e-12, atol=1e-14, obj=name)


def test_all_rows_are_those_of_a_run_of_the_part_alone(compared):
    part, asked = compared
    for name in ("responses", "wordings", "items", "models", "conditions"):
        pd.testing.assert_frame_equal(getattr(part, name)(), getattr(asked, name)(), obj=name)


@pytest.fixture(scope="module")
def opinions(tmp_path_factory):
    return open_run(FULL["stability"](tmp_path_factory.mktemp("opinions") / "run")[0])


def test_everything_is_the_run_itself(opinions):
    """A condition that keeps everything changes nothing."""
    whole, part = opinions, opinions.where("true")
    names = ("stability", "items", "differences")
    of_part = tables_of(part, names)
    for name, frame in tables_of(whole, names).items():
        if not isinstance(frame, str):
            pd.testing.assert_frame_equal(of_part[name], frame, rtol=1e-12, atol=1e-14, obj=name)


def test_a_figure_is_of_the_part_in_the_colours_of_the_whole(opinions):
    figure = opinions.where("model = 'gpt-4o'").figure("overview", resamples=20)
    texts = " ".join(text.get_text() for text, _ in shown_texts(figure))
    assert "gpt-4o" in texts and "bert" not in texts


def test_a_page_without_rows_in_the_part_says_so(tmp_path):
    source, _ = FULL["reliability"](tmp_path / "run")
    part = open_run(source).where("attributes.task IS NOT NULL")
    assert set(part.figures()) <= {name for page in map_page_names_to_catalogues().values() for name in page.figures}
    with pytest.raises(InputError):
        part.table("stability")


def test_keys_that_no_file_can_hold_match_nothing(opinions):
    with pytest.raises(InputError, match=r"no row of these runs has item .+ud800"):
        opinions.where(pd.DataFrame({"item": ["\ud800"]}))


def test_caution_and_provenance_count_what_was_left_out(opinions, tmp_path):
    part = opinions.where("model = 'bert' AND item <> '<b>'").open_runs_of_protocols()
    counted = "157 of 157 wordings, 6 of 6 items, 1 of 2 models"
    ((caution),) = words.list_cautions_about_left_out_parts(part.part)
    assert counted in caution and "model = 'bert' AND item <> '<b>'" in caution
    entries = dict(list_provenance_entries(part, ["run"], {}))
    assert entries["Part"][0] == "where model = 'bert' AND item <> '<b>'" and counted in entries["Part"][1]
    single, _ = BARE["stability"](tmp_path / "single")
    of_single = open_run(single).where("item = 'x'").open_runs_of_protocols()
    assert words.describe_size_of_part(of_single.part).endswith("2 of 2 wordings, 1 of 1 item, 1 of 1 model")
    whole = opinions.open_runs_of_protocols()
    assert words.list_cautions_about_left_out_parts(whole.part) == [] and "Part" not in dict(
        list_provenance_entries(whole, [], {})
    )


def test_a_caution_tells_that_models_keep_different_wordings(opinions):
    alike = opinions.where("pattern <> 'original'")
    unlike = opinions.where("model = 'bert' OR pattern <> 'original'")
    assert [len(words.list_cautions_about_left_out_parts(part.part)) for part in (alike, unlike)] == [1, 2]
    assert words.list_cautions_about_left_out_parts(unlike.part)[1].startswith(
        "Models or conditions keep different wordings here"
    )


def test_the_first_screen_of_a_page_says_that_it_is_of_a_part(opinions):
    page = StabilityPage(opinions)
    assert "part only" not in page.render_answer_with_added_cautions(words.Answer("Asked.", "So it is.")).text
    page.runs = opinions.where("model = 'bert' AND text <> '<b>'").open_runs_of_protocols(page.protocols)
    counted = words.describe_size_of_part(page.runs.part)
    shown = page.render_answer_with_added_cautions(words.Answer("Asked.", "So it is.")).text
    assert f"Asked. A part only: {counted}." in shown and "caution" in shown
    assert counted in page.cautions().text and "<b>" not in page.cautions().text


def test_a_page_counts_the_part_over_its_own_studies(opinions, tmp_path):
    negations, _ = BARE["negation"](tmp_path / "negations")
    (model,) = open_run(negations).models()["model"]
    run = open_run(opinions.folders[0], negations).where(f"model IN ('bert', '{model}') AND study <> 'nothing'")
    total = len(opinions.responses())
    assert run.open_runs_of_protocols(["agreement"]).part.count_kept_and_all_by_kind()["responses"][1] == total
    assert run.part.count_kept_and_all_by_kind()["responses"][1] > total
    assert (
        run.where("model = 'bert'")
        .open_runs_of_protocols(["agreement"])
        .part.count_kept_and_all_by_kind()["responses"][1]
        == total
    )


def test_the_command_prints_the_table_of_a_part(opinions):
    (source,) = opinions.folders
    printed = waver("analysis", "table", source, "items", "--where", "model = 'bert'").stdout
    frame = opinions.where("model = 'bert'").table("items")
    assert printed.splitlines() == tables.render_table_in_text_format("items", frame, "csv").splitlines()
    refused = waver("analysis", "table", source, "items", "--where", "modl = 'bert'", check=False)
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    assert "no column 'modl' (the nearest is 'model')" in refused.stderr
