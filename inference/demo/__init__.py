"""Name the small models that come with Waver and need no hub, no GPU and no key (`--model demo`).

Importing this package is light: it names the checkpoints and does not load them. `world` holds what is so in
their world, questionnaire.yaml what people there have opinions on. `tests/demo_training` made and examined them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DEMO = Path(__file__).parent
MODELS = DEMO / "models"
ADAPTERS = DEMO / "adapters"
BATTERY, PERSONAS, PEOPLE = DEMO / "battery.yaml", DEMO / "personas.csv", DEMO / "people.csv"
"""Statements to be rated, the personas who rate them, and the answers of invented people."""
SCORES, SCORED_MODELS = DEMO / "scores.csv", DEMO / "scores-models.yaml"
"""Answers of three models with their scores, and the revisions of these models."""
MEANING = DEMO / "meaning.csv"
"""The questionnaire's statements with 20 paraphrases each, and ten planted ones in all that mean something else."""
PREFIX = "waver-demo-"
"""The name of every demo model begins with it, also those of earlier families."""
SEED = 2024
"""The seed of the whole family: of the tokenizers, the texts and their order, and the first weights."""


@dataclass(frozen=True, slots=True)
class DemoModel:
    """One checkpoint of the family: its folder, and what run.json says about it.

    `series` is shared by the base and the tuned model of one size; `stage` is "base" or "tuned"; `parameters` counts
    the weights, tied ones once; `family` is "causal", "masked" or "classifier".
    """

    path: Path
    series: str
    stage: str
    parameters: int
    family: str = "causal"


def _define_demo_language_models() -> dict[str, DemoModel]:
    """Name every checkpoint, smallest first, base before tuned, the masked model last."""
    sizes = {"mini": 422_528, "small": 594_560, "medium": 789_376, "large": 984_192}
    family = {}
    for size, parameters in sizes.items():
        series = f"{PREFIX}{size}"
        for stage, name in (("base", series), ("tuned", f"{series}-tuned")):
            family[name] = DemoModel(MODELS / name, series, stage, parameters)
    family["waver-demo-bert"] = DemoModel(MODELS / "waver-demo-bert", "waver-demo-bert", "base", 890_977, "masked")
    return family


FAMILY: dict[str, DemoModel] = _define_demo_language_models()
"""The language models."""
ENCODERS: dict[str, DemoModel] = {
    name: DemoModel(MODELS / name, name, "tuned", 83_523, "classifier")
    for name in ("waver-demo-encoder", "waver-demo-encoder-negated")
}
"""Encoders that `waver tune nli` tuned, on pairs without negations and with them."""
ENTAILERS: dict[str, DemoModel] = {
    name: DemoModel(MODELS / name, name, "tuned", 147_715, "classifier") for name in ("waver-demo-entailment",)
}
"""Encoders that say whether one wording of the questionnaire follows from another, for `waver meaning`: no study asks
them."""
THINKERS: dict[str, DemoModel] = {
    name: DemoModel(MODELS / name, name, "tuned", 789_760) for name in ("waver-demo-thinker",)
}
"""Language models that think before they answer. Only a run that asks for thoughts can ask them."""
RATERS: dict[str, DemoModel] = {name: DemoModel(MODELS / name, name, "tuned", 65_504) for name in (f"{PREFIX}rater",)}
"""Language models that answer rating scales and nothing else. Adapters in `ADAPTERS` give them habits."""
ALL: dict[str, DemoModel] = FAMILY | ENCODERS | ENTAILERS | THINKERS | RATERS
