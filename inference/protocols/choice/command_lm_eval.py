"""Write a task of lm-evaluation-harness that asks a table of questions in all its wordings and orders.

The task is a YAML file and its questions as JSON lines: data, without code. lm-eval takes the folder by
`--include_path`; its log is read by `waver import lm-eval`, without any key.
"""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

from ground.errors import InputError, format_quantity
from ground.numerals import build_bounded_whole_number_type
from ground.parser import require_file_name
from inference.arguments import parse_folder_path

COMMAND = "choice lm-eval"
HELP = "write a task of lm-eval that asks questions in all their wordings and orders"
MOST_ORDERS = 24  # of four choices
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
TEXT = (
    "Question: {{ question }}\n{% for choice in choices %}{{ letters[loop.index0] }}. {{ choice }}\n{% endfor %}Answer:"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of ``waver choice lm-eval``."""
    parser.epilog = "example: waver choice lm-eval questions.jsonl --out tasks"
    parser.add_argument(
        "items",
        type=require_file_name,
        metavar="ITEMS",
        help="a table of multiple-choice questions, as `run choice` takes it",
    )
    parser.add_argument(
        "--out", type=parse_folder_path, required=True, metavar="FOLDER",
        help="where the task's two files are written",
    )  # fmt: skip
    parser.add_argument("--task", metavar="NAME", help="name of the task (default: that of the table)")
    parser.add_argument(
        "--orders",
        type=build_bounded_whole_number_type(1, MOST_ORDERS),
        metavar="N",
        help="orders of the choices of every question (default: those of the table, else 8)",
    )
    parser.add_argument(
        "--seed",
        type=build_bounded_whole_number_type(0, 2**32 - 1),
        default=0,
        metavar="N",
        help="of the draw of orders",
    )


def main(options: argparse.Namespace) -> None:
    """Write the task and its questions; print the command that comes next.

    Raises
    ------
    InputError
        The table cannot be read, nothing varies in it, or the task can have no such name.
    """
    import yaml

    from ground.writing import write_atomically
    from inference.protocols.choice.harness_samples import list_choice_letters, read_table_as_harness_samples
    from inference.runfolder import json_lines

    name = options.task or re.sub(r"[^A-Za-z0-9_]+", "_", Path(options.items).stem)
    if not _NAME.fullmatch(name):
        raise InputError(f"--task {name}: a name begins with a letter and has letters, digits and _; give --task NAME")
    samples = read_table_as_harness_samples(options.items, options.orders, options.seed)
    rows = Path(options.out) / f"{name}.jsonl"
    json_lines.refuse_output_over_input(rows, options.items)
    json_lines.write_json_lines(
        rows,
        (
            {
                "question": sample.question,
                "choices": list(sample.choices),
                "letters": list_choice_letters(sample),
                "answer": sample.answer,
                **sample.fields,
            }
            for sample in samples
        ),
    )
    task = {
        "task": name,
        "dataset_path": "json",
        # A relative path would be taken from where lm-eval is called.
        "dataset_kwargs": {"data_files": {"test": str(rows.resolve())}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": TEXT,
        "doc_to_choice": "letters",
        "doc_to_target": "answer",
        "num_fewshot": 0,
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {"version": 1.0},
    }
    text = yaml.safe_dump(task, sort_keys=False, allow_unicode=True)
    write_atomically(rows.with_suffix(".yaml"), lambda aside: aside.write_text(text, encoding="utf-8"))
    print(f"{rows.with_suffix('.yaml')}: {format_quantity(len(samples), 'question')} in a wording and an order each")
    print(
        f"next: lm_eval --include_path {shlex.quote(options.out)} --tasks {name} --model hf --model_args "
        "pretrained=MODEL --log_samples --output_path results; then waver import lm-eval results --out RUN"
    )
