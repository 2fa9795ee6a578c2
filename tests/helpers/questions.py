"""Files of multiple-choice questions, and calls of `run choice` about them."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from inference.__main__ import build_parser_of_run_file_study


def options(*arguments):
    return build_parser_of_run_file_study("choice").parse_args(["--model", "m", *arguments], Namespace(out=None))


def write(folder: Path, *rows: dict, name: str = "mcq.jsonl") -> str:
    file = folder / name
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(file)


def row(**changes) -> dict:
    return {"question": "What colour is grass?", "choices": ["red", "green", "blue", "grey"], "answer": "B"} | changes
