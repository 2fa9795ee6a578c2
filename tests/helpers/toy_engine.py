"""The smallest engine of somebody else: its factory, its settings and their options, all that an entry names."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from typing import Any

from ground.errors import InputError
from helpers.trivial_engine import TrivialEngine
from inference.engines import Entry


@dataclass(frozen=True, slots=True)
class ToySettings:
    """What the toy may be told."""

    mood: str

    @property
    def fields_of_run_json(self) -> dict[str, Any]:
        return {"quantization": self.mood}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument_group("engine toy").add_argument("--toy-mood", metavar="MOOD")


def parse_settings(options: Namespace) -> ToySettings | None:
    if options.toy_mood is not None and options.engine != "toy":
        raise InputError("--toy-mood is for --engine toy: say so, or leave it out")
    return ToySettings(options.toy_mood) if options.toy_mood is not None else None


def load_toy(model: str, *, seed: int, settings: ToySettings | None) -> TrivialEngine:
    mood = settings.mood if settings else None
    return TrivialEngine({"engine": "toy", "revision": str(seed), "device": "toy", "quantization": mood})


ENTRY = Entry(
    "causal",
    "helpers.toy_engine",
    "load_toy",
    ("seed", "settings"),
    settings="helpers.toy_engine",
    keyword="toy",
)
