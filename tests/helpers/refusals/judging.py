"""Wrong calls and inputs of `judge`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from helpers.refusals import Case
from helpers.refusals.missing import MODEL

TEXTS = {("m", "plain/text", "tea"): ["Yes."]}
CALL = "inference judge run --model"
SHEET = "inference judge run --sheet 5 s.csv"


def run(texts: Any = None, fields: Any = None, **study: Any) -> Any:
    """Write the run folder `run` with texts."""

    def write(folder: Path) -> None:
        from helpers.replies import write_texts

        write_texts(folder / "run", texts or TEXTS, fields, **study)

    return write


def with_file(name: str, content: str) -> Any:
    """Write the run folder `run`, and another file."""

    def write(folder: Path) -> None:
        run()(folder)
        (folder / name).write_text(content, encoding="utf-8")

    return write


def without_texts(folder: Path) -> None:
    """Write a run of probabilities."""
    from helpers.replies import statement_study
    from inference.runfolder.store import Run

    with Run.create_or_open(folder / "run", statement_study(["tea"])) as made:
        made.add_model("m", {"engine": "import", "revision": None})
        made.add_condition("plain", {"form": "plain"})
        row = {"model": "m", "condition": "plain", "item": "tea", "variant": "original", "probability": [0.5, 0.5]}
        made.responses.append_rows_as_part([{**row, "mass": 1.0}])
        made.finish()


def other_stimuli(folder: Path) -> None:
    """Write a run whose stimuli are another run's."""
    run()(folder)
    run({("m", "plain/text", "rain"): ["Yes."]})(folder / "other")
    (folder / "other" / "run" / "stimuli.parquet").replace(folder / "run" / "stimuli.parquet")


def thinking_judge(folder: Path) -> None:
    """Write a run, and a model whose chat template opens its thinking: its first token is no answer."""
    run()(folder)
    shutil.copytree(MODEL, folder / "thinker")
    template = folder / "thinker" / "chat_template.jinja"
    template.write_text(f"{template.read_text(encoding='utf-8')}{{{{ '<think>' }}}}", encoding="utf-8")


CASES = [
    Case("a judge that is the model itself", f"{CALL} {MODEL}", (MODEL.name, "its own texts", "run.json"),
         run({(MODEL.name, "plain/text", "tea"): ["Yes."]}), status=0),
    Case("a judge without probabilities, because it thinks first", f"{CALL} thinker",
         ("--model thinker", "thinks before it answers", "--form plain"), thinking_judge),
    Case("no run folder to judge", f"{CALL} {MODEL}", ("run", "run.json cannot be read")),
    Case("neither a judge nor a sheet", "inference judge run", ("--model", "--sheet"), run()),
    Case("a judge and a sheet", f"{SHEET} --model {MODEL}", ("either --model", "--sheet"), run()),
    Case("a run without texts to judge", f"{CALL} {MODEL}", ("run", "holds no texts", "--answer text"), without_texts),
    Case("a run of numbers to judge", f"{CALL} {MODEL}", ("run", "numbers, not options"),
         run(fields={"range": [0, 9]})),
    Case("a log of right and wrong to judge", f"{CALL} {MODEL}", ("run", "right or wrong"),
         run(labels=("right", "wrong"))),
    Case("an unknown condition to judge", f"{CALL} {MODEL} --condition chat/text",
         ("--condition chat/text", "no such condition", "plain/text"), run()),
    Case("stimuli of another run to judge", f"{CALL} {MODEL}", ("stimuli.parquet", "hash"), other_stimuli),
    Case("a judge that is not there", f"{CALL} ./nobody", ("./nobody", "no such folder"), run()),
    Case("several judges", f"{CALL} demo", ("--model demo", "name one judge"), run()),
    Case("a judge that fills a mask", f"{CALL} {MODEL.parent / 'waver-demo-bert'}", ("prompt.yaml", "cloze", "--model"),
         run()),
    Case("a prompt of a judge that never shows the text", f"{CALL} {MODEL} --prompt p.yaml", ("p.yaml", "text"),
         with_file("p.yaml", 'plain:\n  template: "{{ mark }} {{ choices }} {{ no_option }}"\n')),
    Case("a judge of empty texts", f"{CALL} {MODEL}", ("run", "empty", "nothing to read"),
         run({("m", "plain/text", "tea"): [" "]})),
    Case("no texts in a sheet", SHEET.replace("5", "0"), ("--sheet 0",), run()),
    Case("a sheet that is no table", SHEET.replace(".csv", ".txt"), ("s.txt", ".csv"), run()),
    Case("a sheet that is there already", SHEET, ("s.csv", "filled in"), with_file("s.csv", "text\n")),
    Case("a sheet of empty texts", SHEET, ("run", "empty"), run({("m", "plain/text", "tea"): [" "]})),
]  # fmt: skip
