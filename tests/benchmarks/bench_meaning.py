"""Time of `waver meaning` beyond its models, on 30,848 published paraphrases, and how checks part their decoys.

    python tests/benchmarks/bench_meaning.py

Reads ../shared/data/political-compass-paraphrases. The models cost next to nothing: the entailment model is told which
texts are wordings of one item, and errs at random (normal noise, 2 SDs apart in each direction); the embeddings count
words of every text into 64 numbers. One thread in a fresh process, so that CPU seconds are what an idle machine needs;
Python's start and the imports are part of them. The AUC is held against scikit-learn. Exit status 1 where the target is
missed.
"""

from __future__ import annotations

import hashlib
import math
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import NormalDist

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT.parent / "shared/data/political-compass-paraphrases/paraphrases_gpt3.5-turbo_temp1.json"
TARGET = 60  # seconds of CPU
APART = 2.0  # SDs


def main() -> int:
    if not DATA.exists():
        print(f"needs {DATA.relative_to(ROOT.parent)} next to the checkout")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "st").mkdir()
        missed = False
        for what in ("first call", "the same again"):
            done = subprocess.run(
                [sys.executable, __file__, "--child", folder], cwd=ROOT, capture_output=True, text=True
            )
            if done.returncode:
                print(done.stderr)
                return 1
            *said, measured = done.stdout.splitlines()
            seconds, megabytes = map(float, measured.split())
            missed |= seconds >= TARGET
            verdict = "ok" if seconds < TARGET else "MISSED"
            print(f"{what}: {seconds:.1f} s CPU, peak {megabytes:.0f} MB; target {TARGET} s: {verdict}")
        print("\n".join(said))
        compare_with_scikit_learn(Path(folder) / "out" / "meaning.parquet")
    return int(missed)


def run_child(folder: Path) -> None:
    """Check the wordings with words, embeddings and entailment, and print what it cost."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    from helpers.meaning_checks import TellingModel, call_meaning
    from inference.meaning import similarity
    from inference.stimuli import items

    item_by_text: dict[str, str] = {}
    for item in items.read_and_check_items(str(DATA)):
        item_by_text |= {variant.text: item.item for variant in item.variants}

    def says(first: str, second: str) -> float:
        shift = APART / 2 if item_by_text.get(first, 1) == item_by_text.get(second, 2) else -APART / 2
        digest = hashlib.sha256(f"{first}\0{second}".encode()).digest()
        noise = NormalDist().inv_cdf((int.from_bytes(digest[:6], "big") + 0.5) / 2**48)
        return 1 / (1 + math.exp(-(shift + noise)))

    similarity.Meaning = CountedWords  # type: ignore[misc,assignment]
    checks = ["--check", "words", f"similarity=st={folder / 'st'}", "entailment=nli=owner/nli"]
    call_meaning(DATA, *checks, "--out", str(folder / "out"), load=lambda model, seed: TellingModel(says, size=256))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


class CountedWords:
    """Embeddings that count the words of a text into 64 numbers."""

    def __init__(self, *_: object) -> None: ...

    def compute_cosines_with_original(self, original: str, wordings: list[str]) -> list[float]:
        import numpy as np

        vectors = np.zeros((len(wordings) + 1, 64))
        for place, text in enumerate([original, *wordings]):
            for word in text.casefold().split():
                vectors[place, hashlib.sha256(word.encode()).digest()[0] % 64] += 1
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return [float(cosine) for cosine in vectors[1:] @ vectors[0]]


def compare_with_scikit_learn(file: Path) -> None:
    """Print the AUC of every check by kind of decoy, and of all as scikit-learn computes it."""
    import pandas as pd
    from sklearn.metrics import roc_auc_score

    rows = pd.read_parquet(file)
    for check, scores in rows.groupby("check"):
        wordings, decoys = scores[scores["decoy"].isna()], scores[scores["decoy"].notna()]
        both = pd.concat([wordings, decoys])
        parts = [f"all {roc_auc_score(both['decoy'].isna(), both['score']):.3f}"]
        for kind, some in decoys.groupby("decoy"):
            both = pd.concat([wordings, some])
            parts.append(f"{kind} {roc_auc_score(both['decoy'].isna(), both['score']):.3f} ({len(some)})")
        print(f"{check}, AUC by scikit-learn: {', '.join(parts)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        run_child(Path(sys.argv[2]))
    else:
        sys.exit(main())
