"""Answers from a few thoughts beside those from 1,000: `python tests/benchmarks/bench_thought_estimates.py`.

The demo model that thinks is asked for 1,000 thoughts after two wordings of every statement of the demo questionnaire.
From these, a few thoughts are drawn many times, with replacement. The table has, by number of thoughts: the bias of an
answer (mean over prompts, and the largest of a prompt with its simulation error), the variance of an answer from exact
probabilities and from one counted answer after each thought, and the coverage of the 95 % interval of page reliability
for the mean over items, with items and thoughts drawn anew. Wanted at 8 thoughts: bias below .005, coverage from .93 to
.97, and no prompt of which counted answers vary less.

`--keep FILE.npz` keeps the thoughts' probabilities, and takes them from there another time.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from helpers.thought_resampling import Checked, check_estimates  # noqa: E402

MODEL = ROOT / "inference" / "demo" / "models" / "waver-demo-thinker"
WORDINGS, TOKENS = 2, 128
MOST_BIAS, COVERAGE, WANTED = 0.005, (0.93, 0.97), 8


def ask(model_folder: str, n_items: int, thoughts: int) -> tuple[np.ndarray, np.ndarray]:
    """Ask for many thoughts: probability of the first answer and of both (items, wordings, thoughts)."""
    import torch

    from inference import engines
    from inference.engines.contract import Thinking
    from inference.protocols import agreement
    from inference.stimuli import items
    from inference.stimuli.templates.prompts import build_template_values_of_options

    engine = engines.load_engine(model_folder, device="cpu")
    torch.set_num_threads(1)
    book, form = agreement.read_agreement_prompts(), engine.choose_prompt_form("auto")
    by_item: dict[str, list] = {}
    for variant in agreement.build_agreement_study(items.read_and_check_items("demo"), "demo").variants:
        by_item.setdefault(variant.item, []).append(variant)
    # Wordings spread over all that an item has: neighbours in the list are alike.
    chosen = [[variants[place * len(variants) // WORDINGS] for place in range(WORDINGS)]
              for variants in list(by_item.values())[:n_items]]  # fmt: skip
    yes, mass = np.full((2, len(chosen), WORDINGS, thoughts), np.nan)
    for item, variants in enumerate(chosen):
        for wording, variant in enumerate(variants):
            prompt = book.render(form, build_template_values_of_options(variant))
            (response,) = engine.think([prompt], Thinking(thoughts, max_tokens=TOKENS))
            for place, score in enumerate(response.scores):
                if score is not None:
                    yes[item, wording, place], mass[item, wording, place] = score.probability[0], score.mass
    return yes, mass


def format_row(number: int, checked: Checked) -> str:
    return (
        f"{number:8d}  {checked.bias:+.4f}  {checked.largest_bias:.4f} ({checked.largest_error:.4f})  "
        f"{checked.variance:.5f}  {checked.counting:.5f}  {checked.counting / checked.variance:6.2f}  "
        f"{checked.worse:5d}  {checked.coverage:.3f}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default=str(MODEL), help="a model that thinks (default: that of the demo)")
    parser.add_argument("--items", type=int, default=34)
    parser.add_argument("--thoughts", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=2000, help="of every prompt, and studies of which intervals")
    parser.add_argument("--keep", type=Path, help="file of the thoughts' probabilities")
    options = parser.parse_args()
    started = time.monotonic()
    if options.keep and options.keep.exists():
        kept = np.load(options.keep)
        yes, mass = kept["yes"], kept["mass"]
    else:
        yes, mass = ask(options.model, options.items, options.thoughts)
        if options.keep:
            np.savez_compressed(options.keep, yes=yes, mass=mass)
    unclosed = np.isnan(mass).mean(axis=2)
    share = np.nanmean(yes / mass, axis=2)
    print(f"{yes.shape[0] * yes.shape[1]} prompts, {yes.shape[2]:,} thoughts each; without an answer "
          f"{unclosed.mean():.3f}, at most {unclosed.max():.3f} of a prompt; mean answer {share.mean():.3f}, SD over "
          f"prompts {share.std(ddof=1):.3f}, of a thought {np.nanstd(yes / mass, axis=2).mean():.3f}; "
          f"{time.monotonic() - started:.0f} s")  # fmt: skip
    print("thoughts  bias     largest (error)  exact    counted  ratio   worse  coverage")
    by_number = {}
    for number in (1, 2, 4, WANTED, 16, 32):
        rng = np.random.default_rng(number)
        by_number[number] = check_estimates(rng, yes, mass, number, options.draws, options.draws)
        print(format_row(number, by_number[number]), flush=True)
    wanted = by_number[WANTED]
    is_reached = {
        f"largest bias below {MOST_BIAS}": wanted.largest_bias - 2 * wanted.largest_error < MOST_BIAS,
        f"coverage from {COVERAGE[0]} to {COVERAGE[1]}": COVERAGE[0] <= wanted.coverage <= COVERAGE[1],
        "variance at most that of counting": wanted.worse == 0,
    }
    print(f"At {WANTED} thoughts:", "; ".join(f"{name}: {'yes' if so else 'NO'}" for name, so in is_reached.items()))
    return 0 if all(is_reached.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
