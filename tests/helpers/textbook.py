"""The stability figures the slow way: plain loops over the rows of a run folder, read with pyarrow. For tests only."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow.parquet as pq
from scipy import optimize, stats

NAN = math.nan


def answers(path: Path) -> list[dict]:
    """One dict per response: the key, `original`, `agreement` and `validity` (None where undefined)."""
    first = json.loads((path / "run.json").read_text())["study"]["canonical"][0]
    stimuli = {(row["item"], row["variant"]): row for row in pq.read_table(path / "stimuli.parquet").to_pylist()}
    found = []
    for part in sorted(path.glob("responses/*.parquet")):
        for row in pq.read_table(part).to_pylist():
            if row["error"] is not None:
                continue
            stimulus = stimuli[row["item"], row["variant"]]
            meaning = dict(zip(stimulus["options"], stimulus["canonical"], strict=True))
            found.append({
                **{name: row[name] for name in ("study", "model", "condition", "item", "variant")},
                "original": stimulus["pattern"] == "original",
                "agreement": agreement(row, stimulus, meaning, first),
                "validity": validity(row),
            })  # fmt: skip
    return found


def counted(path: Path) -> set[tuple]:
    """The units (study, model, condition) without any probability: their validity is a share of answers."""
    rows = [row for part in sorted(path.glob("responses/*.parquet")) for row in pq.read_table(part).to_pylist()]
    unit = ("study", "model", "condition")
    told = {tuple(row[name] for name in unit) for row in rows if row["probability"] is not None}
    return {tuple(row[name] for name in unit) for row in rows if row["error"] is None} - told


def agreement(row: dict, stimulus: dict, meaning: dict, first: str) -> float | None:
    for numbers in (row["probability"], row["count"]):
        if numbers is not None:
            agree = sum(n for n, canonical in zip(numbers, stimulus["canonical"], strict=True) if canonical == first)
            return agree / sum(numbers) if sum(numbers) else None
    return None if row["answer"] is None else float(meaning[row["answer"]] == first)


def validity(row: dict) -> float:
    if row["probability"] is not None:
        return row["mass"] if row["mass"] is not None else sum(row["probability"])
    if row["count"] is not None:
        return sum(row["count"]) / (sum(row["count"]) + (row["invalid"] or 0))
    return float(row["answer"] is not None)


def sd(values: list[float]) -> float:
    return statistics.stdev(values) if len(values) > 1 else NAN


def mean(values: list[float]) -> float:
    return statistics.fmean(values) if values else NAN


def items(rows: list[dict]) -> dict[tuple, dict]:
    """(study, model, condition, item) -> the figures of the table `items`, over the paraphrases."""
    grouped = defaultdict(lambda: ([], []))
    for row in rows:
        grouped[row["study"], row["model"], row["condition"], row["item"]][row["original"]].append(row)
    return {key: item(*patterns) for key, patterns in grouped.items()}


def item(paraphrases: list[dict], originals: list[dict]) -> dict:
    masses = [row["validity"] for row in paraphrases]
    values = [row["agreement"] for row in paraphrases if row["agreement"] is not None]
    agree, disagree = sum(v >= 0.5 for v in values), sum(v < 0.5 for v in values)
    several = len(values) > 1
    known = [row["agreement"] for row in originals if row["agreement"] is not None]
    return {
        "n_variants": len(paraphrases),
        "n_valid": len(values),
        "n_invalid": len(paraphrases) - len(values),
        "n_ties": sum(v == 0.5 for v in values),
        "validity_mean": mean(masses),
        "validity_sd": sd(masses),
        "agreement_mean": mean(values),
        "agreement_sd": sd(values),
        "agreement_min": min(values, default=NAN),
        "agreement_max": max(values, default=NAN),
        "agreement_range": max(values) - min(values) if several else NAN,
        "minority_share": min(agree, disagree) / len(values) if several else NAN,
        "original_agreement": mean(known),
        "original_validity": mean([row["validity"] for row in originals]),
    }


def model(rows: list[dict], thresholds: dict[str, float]) -> dict:
    """The figures of the table `stability` for the rows of one model under one condition."""
    masses = [row["validity"] for row in rows if not row["original"]]
    per_item = list(items(rows).values())
    chosen = [figures for figures in per_item if figures["n_valid"] > 1]
    ranges, sds = [f["agreement_range"] for f in chosen], [f["agreement_sd"] for f in chosen]
    means = [f["agreement_mean"] for f in per_item if f["n_valid"]]
    flips = {
        name: mean([float(f["minority_share"] > threshold) for f in chosen]) for name, threshold in thresholds.items()
    }
    return {
        "validity": mean(masses),
        "validity_se": sd(masses) / math.sqrt(len(masses)) if masses else NAN,
        "range_mean": mean(ranges),
        "range_sd": sd(ranges),
        "sd_mean": mean(sds),
        "sd_sd": sd(sds),
        **flips,
        "n_items": len(chosen),
        "n_variants": len(masses),
        "mark": "+" if means and min(means) > 0.5 else "-" if means and max(means) < 0.5 else "",
    }


def item_stability(per_item: dict[tuple, dict], family: dict[str, str]) -> dict[tuple, tuple]:
    """(study, item, family) -> mean, standard error, number of models of the normalised SD."""
    masses = defaultdict(list)
    for (study, name, condition, _), figures in per_item.items():
        masses[study, name, condition] += [figures["validity_mean"]] * figures["n_variants"]
    per_item = {key: figures for key, figures in per_item.items() if mean(masses[key[:3]]) >= 0.5}
    largest = defaultdict(float)
    for (study, name, condition, _), figures in per_item.items():
        if figures["n_valid"] > 1:
            largest[study, name, condition] = max(largest[study, name, condition], figures["agreement_sd"])
    of_model = defaultdict(lambda: defaultdict(list))
    for (study, name, condition, item_id), figures in per_item.items():
        if figures["n_valid"] > 1 and largest[study, name, condition] > 0:
            normalised = figures["agreement_sd"] / largest[study, name, condition]
            of_model[study, item_id, family[name]][name].append(normalised)
    result = {}
    for key, values in of_model.items():
        means = [mean(conditions) for conditions in values.values()]
        result[key] = (mean(means), sd(means) / math.sqrt(len(means)), len(means))
    return result


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    low = math.floor(place)
    return ordered[low] + (place - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def percentiles(draws: list[float], items: int) -> tuple[float, float]:
    """Hesterberg's expanded percentiles; none where all draws are equal up to rounding, or below five items."""
    tail = stats.norm.cdf(-math.sqrt(items / (items - 1)) * stats.t.ppf(0.975, items - 1))
    low, high = quantile(draws, tail), quantile(draws, 1 - tail)
    return (low, high) if high - low > 1e-9 and items >= 5 else (NAN, NAN)


def deviation(values: list[float]) -> tuple[float, float]:
    """Bonett's interval of an SD (2006), with t in place of z; none where all values are equal."""
    n, t = len(values), stats.t.ppf(0.975, len(values) - 1)
    variance = statistics.variance(values)
    if variance < 1e-18:
        return NAN, NAN
    trimmed = stats.trim_mean(values, 1 / (2 * math.sqrt(n - 4)))
    tails = n * math.fsum((v - trimmed) ** 4 for v in values) / (variance * (n - 1)) ** 2
    c = n / (n - t)
    half = t * c * math.sqrt((tails - (n - 3) / n) / (n - 1))
    return math.sqrt(math.exp(math.log(c * variance) - half)), math.sqrt(math.exp(math.log(c * variance) + half))


def hall(statistic: float, a: float) -> float:
    """A t statistic, transformed against the skewness of its values, over the root of their number (Hall 1992)."""
    return statistic + a * statistic**2 / 3 + a**2 * statistic**3 / 27 + a / 6


def mean_score(values: list[float], bounded: bool) -> tuple[float, float]:
    """The interval of a mean of scores: the farther of t's and Hall's ends, looked for; from 0 to 1 cut at Wilson's."""
    n, mean, error = len(values), math.fsum(values) / len(values), statistics.stdev(values) / math.sqrt(len(values))
    t, z = stats.t.ppf(0.975, n - 1), stats.norm.ppf(0.975)
    if error > 1e-12:
        a = stats.skew(values) / math.sqrt(n)
        below, above = (optimize.brentq(lambda T, q=q: hall(T, a) - q, -1e3, 1e3, xtol=1e-14, rtol=1e-14)
                        for q in (t, -t))  # fmt: skip
        lower, upper = mean - max(t, below) * error, mean + max(t, -above) * error
    else:
        lower, upper = -math.inf, math.inf
    if bounded:

        def beyond(end: float) -> float:
            return abs(mean - end) - z * math.sqrt(end * (1 - end) / n)

        lower = max(lower, optimize.brentq(beyond, 0, mean, xtol=1e-14, rtol=1e-14) if mean > 0 else 0)
        upper = min(upper, optimize.brentq(beyond, mean, 1, xtol=1e-14, rtol=1e-14) if mean < 1 else 1)
    return lower, upper


def mean_difference(values: list[float]) -> float:
    """The p value of a mean of differences without bounds: the larger of t's and Hall's."""
    statistic = statistics.fmean(values) / statistics.stdev(values) * math.sqrt(len(values))
    sign = math.copysign(1, statistic)
    nearer = min(sign * statistic, sign * hall(statistic, stats.skew(values) / math.sqrt(len(values))))
    return min(1.0, 2 * stats.t.sf(nearer, len(values) - 1))


def share(clusters: list[list[float]]) -> tuple[float, float]:
    """Wilson's interval of a share whose items have several answers, n as in `analysis.statistics.shares`."""
    rows = sum(map(len, clusters))
    p = math.fsum(map(math.fsum, clusters)) / rows
    size = math.fsum((len(cluster) / rows) ** 2 for cluster in clusters)
    # Two items more, each of this share of the rows: one all "yes", one all "no".
    total = 1 + 2 * size
    q = (p + size) / total
    influences = [math.fsum(value - q for value in cluster) / rows / total for cluster in clusters]
    influences += [size * (1 - q) / total, -size * q / total]
    return wilson(p, q * (1 - q) / math.fsum(x**2 for x in influences) - 2)


def wilson(p: float, n: float) -> tuple[float, float]:
    """The roots P of (p - P)^2 = z^2 P (1 - P) / n."""
    z = statistics.NormalDist().inv_cdf(0.975)
    a, b, c = 1 + z * z / n, -(2 * p + z * z / n), p * p
    root = math.sqrt(max(b * b - 4 * a * c, 0))
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def entropy(values) -> float:
    """The entropy in bits of values of which equal ones are one class."""
    return float(stats.entropy(list(Counter(values).values()), base=2))
