"""Damaged, unfinished and contradictory logs of Inspect."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helpers.eval_logs import (
    ZSTANDARD,
    as_eval,
    as_json,
    bomb,
    header,
    sample,
    text_sample,
    unfinished,
    write,
    zipped,
)
from helpers.refusals import Case

ONE = "samples/1_epoch_1.json"
WHOLE = as_eval([sample(1), sample(2, "I", "B")])


def logs(*words: str) -> tuple[str, ...]:
    """The call that imports logs of Inspect into the folder `run`."""
    return ("inference", "import", "inspect", *words, "--out", "run")


def one(name: str, words: tuple[str, ...], content: bytes, *options: str, **case: Any) -> Case:
    """A case of one log, `log.eval`."""
    return Case(name, logs("log.eval", *options), ("log.eval", *words), {"log.eval": content}, **case)


def of(name: str, words: tuple[str, ...], *options: str, head: Any = None, **fields: Any) -> Case:
    """A case of one log with one sample, some fields of which are changed."""
    return one(name, (ONE, *words), as_eval([{**sample(), **fields}], head), *options)


def member(content: bytes) -> bytes:
    """A log whose only sample is these bytes."""
    return zipped({"header.json": header(), ONE: content})


def patched(content: bytes, place: int, value: int) -> bytes:
    """A log in whose central directory one byte of the first member is another one."""
    start = content.index(b"PK\x01\x02") + place
    return content[:start] + bytes([value]) + content[start + 1 :]


def styled(**right: str) -> Mapping[str, bytes]:
    """Two logs of one task that differ in an argument, and in their right answers."""
    return {
        f"{style}.eval": as_eval([text_sample(target=target)], header(eval_task_args={"subject": style}))
        for style, target in right.items()
    }


def too_large(folder: Path) -> None:
    """Write a file of 300 MB that takes no place on the disk."""
    with (folder / "log.json").open("wb") as file:
        file.truncate(300_000_000)


CASES = [
    # the file
    one("no archive", ("no whole zip archive", "copy the file again"), b"PK, said the file"),
    one("an archive that was cut off", ("no whole zip archive",), WHOLE[: len(WHOLE) // 2]),
    one("an empty log", ("no whole zip archive",), b""),
    one("a sample that was damaged", (ONE, "damaged"), WHOLE[:60] + bytes([WHOLE[60] ^ 1]) + WHOLE[61:]),
    one(
        "a damaged zstd member",
        (ONE, "damaged"),
        as_eval([sample()], method=ZSTANDARD).replace(b"\x28\xb5", b"\x28\xb4", 1),
    ),
    one("a member that unpacks to more than it says", (ONE, "damaged"), patched(WHOLE, 24, 9)),
    Case(
        "a zip bomb",
        logs("log.eval"),
        ("log.eval", ONE, "more than 100 MB"),
        lambda folder: write(folder / "log.eval", bomb(101_000_000)),
    ),
    one("an encrypted member", (ONE, "encrypted"), patched(WHOLE, 8, 1)),
    one("an unknown compression", (ONE, "method 9"), patched(WHOLE, 10, 9)),
    one("a member twice", (ONE, "twice"), WHOLE.replace(b"samples/2", b"samples/1")),
    one(
        "zstd without its package",
        ("zstd", "needs the package zstandard", "[logs]"),
        as_eval([sample()], method=ZSTANDARD),
        without=("zstandard",),
    ),
    Case(
        "a log that is too large",
        logs("log.json"),
        ("log.json", "larger than 200 MB", "inspect log convert"),
        too_large,
    ),
    Case("no file", logs("log.eval"), ("log.eval", "cannot be read")),
    Case("a pipe", logs("log.eval"), ("log.eval", "a pipe"), lambda folder: os.mkfifo(folder / "log.eval")),
    Case("another kind of file", logs("log.txt"), ("log.txt", "give .eval or .json"), {"log.txt": "Hello."}),
    Case("a folder without logs", logs("sub"), ("sub", "no .eval and no .json log"), {"sub/log.txt": "Hello."}),
    Case(
        "a folder of logs that say nothing",
        logs("sub"),
        ("none of 2 logs can be imported", "sub/a.eval", "holds no samples"),
        {"sub/a.eval": as_eval([]), "sub/b.json": as_json([sample(scores={})])},
    ),
    Case("one log under two names", logs("log.eval", "./log.eval"), ("log.eval", "given twice"), {"log.eval": WHOLE}),
    # its header
    one("no header", ("neither header.json nor _journal/start.json",), zipped({ONE: sample()})),
    one("a newer version", ("version 4", "versions 2 and 3"), as_eval([sample()], {**header(), "version": 4})),
    one("no version", ("version nothing",), as_eval([sample()], {**header(), "version": None})),
    one("no model", ("eval.model", "must be a name"), as_eval([sample()], header(eval_model=None))),
    one("a header that is a list", ("no field `eval`",), zipped({"header.json": [1], ONE: sample()})),
    Case("JSON of something else", logs("log.json"), ("log.json", "no log of Inspect"), {"log.json": '{"version": 2}'}),
    Case(
        "JSON that was cut off",
        logs("log.json"),
        ("log.json", "line 1", "malformed JSON"),
        {"log.json": as_json([sample()])[:-20]},
    ),
    Case(
        "samples that are no list",
        logs("log.json"),
        ("log.json", "samples must be a list"),
        {"log.json": json.dumps({**header(), "samples": {"1": sample()}})},
    ),
    # its samples
    one("no samples", ("holds no samples", "status success"), as_eval([])),
    one("nothing finished", ("holds no samples", "status started"), unfinished([])),
    one("a sample that was cut off", (ONE, "malformed JSON"), member(json.dumps(sample()).encode()[:-9])),
    one("a sample that is a text", (ONE, "expected the fields of a sample"), member(b'"C"')),
    one("a sample that is not UTF-8", (ONE, "not UTF-8"), member(b'{"id": "\xff"}')),
    one("a sample with a key twice", (ONE, "the key 'id' is there twice"), member(b'{"id": 1, "id": 2}')),
    one(
        "half a character",
        (ONE, "half of a surrogate pair"),
        member(json.dumps(sample(input="\ud83d", messages=[])).encode()),
    ),
    one(
        "an id that is nothing",
        (ONE, "id must be text or a whole number, not nothing"),
        member(json.dumps({**sample(), "id": None}).encode()),
    ),
    one(
        "an epoch as text",
        (ONE, "epoch must be a whole number, not '1'"),
        member(json.dumps({**sample(), "epoch": "1"}).encode()),
    ),
    of("nothing was asked", ("nothing was asked",), input="", messages=[]),
    of("an attachment that is missing", ("no attachment", "attachment://f00"), input="attachment://f00", messages=[]),
    of("choices that are no list", ("choices must be a list",), choices="red"),
    of("a choice that is a number", ("choices, input and content", "must be text, not 3"), choices=["red", 3]),
    of("one choice", ("1 option", "2 to 26"), choices=["red"]),
    of(
        "several right choices",
        ("no single right option", "--right-or-wrong"),
        target=["A", "B"],
        scores={"choice": {"value": "I", "answer": "A"}},
    ),
    one(
        "the same epoch twice",
        ("epoch 1 of item", "--variant-key"),
        zipped({"header.json": header(), ONE: sample(), "samples/again.json": sample()}),
    ),
    # its scores
    one(
        "no score at all",
        ("no score in 2 samples", "inspect score"),
        as_eval([sample(n, scores={}) for n in (1, 2)]),
    ),
    one(
        "only errors",
        ("no score in 1 sample (1 ended with an error)",),
        as_eval([sample(scores={}, error={"message": "Out of memory"})]),
    ),
    one(
        "a score of a sample that ended with an error",
        ("no score in 1 sample (1 ended with an error)",),
        as_eval([text_sample(error={"message": "Out of memory"})]),
    ),
    of("a small letter, which Inspect does not count", ("the score 'c'",), scores={"judge": {"value": "c"}}),
    of(
        "several scorers, none of whom says right or wrong",
        ("the score 7", "--scorer"),
        scores={"style": {"value": 7}, "facts": {"value": 3}},
    ),
    one(
        "samples of several scorers after one",
        ("several scores (choice, match)", "--scorer"),
        as_eval([sample(1), sample(2, scores={"choice": {"value": "C"}, "match": {"value": "I"}})]),
    ),
    of("a scorer that is not there", ("no score by style", "choice"), "--scorer", "style"),
    one(
        "samples of different scorers",
        ("different scorers (choice, match)", "--scorer"),
        as_eval([sample(1), sample(2, scores={"match": {"value": "C"}})]),
    ),
    of("a grade from 1 to 10", ("the score 7", "--scorer"), scores={"judge": {"value": 7}}),
    of("a score that is no number", ("the score 'good'",), scores={"judge": {"value": "good"}}),
    of("a score of several values", ("the score {",), scores={"judge": {"value": {"style": 1, "facts": 0}}}),
    of(
        "a letter that the score contradicts",
        ("the answer is B and the right one A", "--right-or-wrong"),
        scores={"choice": {"value": "C", "answer": "B"}},
    ),
    # several logs
    Case(
        "two logs with the same samples",
        logs("a.eval", "b.eval"),
        ("b.eval", "item '1'", "already", "--variant-key"),
        {"a.eval": WHOLE, "b.eval": WHOLE},
    ),
    Case(
        "two questions with one id",
        logs("art.eval", "war.eval"),
        ("war.eval", "right answer 'red'", "'blue' in art.eval", "--item-key"),
        styled(art="blue", war="red"),
    ),
    Case(
        "letters and texts",
        logs("a.eval", "b.eval"),
        ("b.eval", "--right-or-wrong"),
        {"a.eval": WHOLE, "b.eval": as_eval([text_sample()], header(task="texts"))},
    ),
    Case(
        "an argument that is not there",
        logs("log.eval", "--variant-key", "task_args.style"),
        ("--variant-key task_args.style", "task_args.level"),
        {"log.eval": as_eval([sample()], header(eval_task_args={"level": 1}))},
    ),
    of(
        "metadata that a sample lacks",
        ("--variant-key metadata.style", "metadata.topic"),
        "--variant-key",
        "metadata.style",
        metadata={"topic": "art"},
    ),
    Case(
        "an item key that is none",
        logs("log.eval", "--item-key", "question"),
        ("--item-key question", "id or metadata"),
        {"log.eval": WHOLE},
    ),
]
