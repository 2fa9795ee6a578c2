"""The embedded models that answer when there is no hub, no GPU and no key (`--model demo`).

Importing this package is light: it names the checkpoints, it does not load them. `world` holds what they
were taught, `questionnaire` what they are asked, `train`, `widen` and `evaluate` how they came about.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DEMO = Path(__file__).parent
MODELS = DEMO / "models"
QUESTIONNAIRE = DEMO / "questionnaire.yaml"
SEED = 2024
"""The seed of the whole family: tokenizers, text, weights, and the order in which they meet."""


@dataclass(frozen=True, slots=True)
class DemoModel:
    """One checkpoint of the family: where it lies, and what run.json says about it.

    `series` is shared by the base and the tuned model of one size; `stage` is "base" or "tuned"; `parameters` counts
    the weights, tied ones once; `family` is "causal" or "masked".
    """

    path: Path
    series: str
    stage: str
    parameters: int
    family: str = "causal"


def _family() -> dict[str, DemoModel]:
    """Name every checkpoint, smallest first, base before tuned, the masked model last."""
    sizes = {"small": 226_368, "medium": 513_312, "large": 971_392}
    family = {}
    for size, parameters in sizes.items():
        series = f"waver-demo-{size}"
        for stage, name in (("base", series), ("tuned", f"{series}-tuned")):
            family[name] = DemoModel(MODELS / name, series, stage, parameters)
    family["waver-demo-bert"] = DemoModel(MODELS / "waver-demo-bert", "waver-demo-bert", "base", 463_915, "masked")
    return family


FAMILY: dict[str, DemoModel] = _family()
