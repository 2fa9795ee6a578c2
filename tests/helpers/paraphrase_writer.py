"""A writer of paraphrases without a model, and one call that makes paraphrases with it."""

from __future__ import annotations

import hashlib

from helpers.trivial_engine import TrivialEngine, shown
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines.contract import Generation
from inference.paraphrase.making import ChoiceSettings, make_paraphrase_folder
from inference.paraphrase.questions import Calls, build_study_of_originals_to_paraphrase, read_paraphrase_prompts

MODEL = Model("writer", "writer")


class Writer(TrivialEngine):
    """Writes numbered lists that follow from prompt and seed; `fails(text)` says for which prompts it cannot."""

    seed = 0

    def generate(self, prompts, samplings):
        self._before_batch(self.batches_scored)
        self.batches_scored += 1
        return [[self._list(shown(prompt), way) for prompt in prompts] for way in samplings]

    def _list(self, text, way):
        if self._fails(text):
            return Generation(error="too long")
        texts = []
        for call in range(way.samples):
            drawn = hashlib.sha256(f"{self.seed} {call} {text}".encode()).digest()
            listed = "\n".join(f"{number}. =Wording {byte % 50}." for number, byte in enumerate(drawn[:20], start=1))
            texts.append("I'm sorry, but I can't help with that." if drawn[20] < 30 else f"Sure:\n{listed}")
        return Generation(tuple(texts), tuple(texts))


def writer(seed=0, **settings):
    def load(model, run_seed):
        engine = Writer(size=2, **settings)
        engine.seed = run_seed
        return engine

    return load


def made(out, given, *, calls=6, per_call=20, keep=30, seed=None, book=None, load=None, model=MODEL, **wanted):
    asked = Calls(book or read_paraphrase_prompts(), calls, per_call, 1000)
    study = build_study_of_originals_to_paraphrase(given, "items", "items.json")
    return make_paraphrase_folder(
        study, model, asked, Settings(seed=seed), ChoiceSettings(keep, **wanted), out, load=load or writer()
    )
