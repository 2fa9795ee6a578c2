"""Read rows of lm-eval samples: a `Logged` response for every reading of a row.

A row has one request per option, or one that asks for a text. It is read as its metrics say:

- `acc`: the option with the highest log-likelihood, the first of equal ones;
- `acc_norm`, `acc_bytes`: the highest per character or per byte of the option, without the delimiter before it;
- `acc_mutual_info`: the highest difference from its log-likelihood without the text, which a second request per
  option asks for;
- other metrics, of texts: right where it is 1, wrong where it is 0. Rows of SCORE have the answer and the right one.

Each but the first is a condition of its own, and so is each filter. What the row says of itself is compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ground.errors import InputError
from inference.importers.json_log import refuse_halves
from inference.importers.lm_eval_requests import Options, Request, generated, loglikelihoods, options, requests
from inference.importers.lm_eval_wordings import DOC, Asked
from inference.importers.logged import Logged
from inference.stimuli.files import shown

ACC, NORM, BYTES, MUTUAL = "acc", "acc_norm", "acc_bytes", "acc_mutual_info"
READINGS = {ACC: "likelihood", NORM: "per character", BYTES: "per byte", MUTUAL: "mutual information"}
BYPASS = 999  # what lm-eval writes where nothing was judged (--predict_only)
_PREFERRED = ("exact_match", ACC)
_HASH = 16  # letters of `doc_hash` that name an item


class Rows:
    """The responses of one file, to be gone through once.

    Parameters
    ----------
    item_key
        `doc_hash`, `doc_id` or `doc.FIELD`; None: `doc_hash`, or what SCORE's rows say.
    outcomes
        Whether only right or wrong is wanted.
    conditions
        Condition name -> fields, of all files; filled here.

    Attributes
    ----------
    docs
        How many documents there were.
    """

    def __init__(
        self, asked: Asked, item_key: str | None, outcomes: bool, conditions: dict[str, dict[str, Any]]
    ) -> None:
        self.asked, self.docs = asked, 0
        self._item_key, self._outcomes, self._conditions = item_key, outcomes, conditions
        self._seen: dict[str, dict[Any, int]] = {}  # filter -> doc_id -> line
        self._copies: dict[str, list[Any]] = {}  # doc_hash -> doc_ids
        self._named: dict[tuple[str, str], str] = {}  # filter, reading -> condition
        self._attributes = {"subset": asked.base or asked.file.task}

    def __iter__(self) -> Iterator[Logged]:
        path, decode = self.asked.file.path, json.JSONDecoder().decode
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.isspace():
                    continue
                where = f"{path}, line {number}"
                try:
                    row = decode(line.decode())
                except (ValueError, RecursionError):
                    cut = "" if line.endswith(b"\n") else "; the file ends within a row"
                    raise InputError(f"{where}: not a JSON object{cut}; log it again, or take the row out") from None
                if not isinstance(row, dict):
                    raise InputError(f"{where}: expected one sample as a JSON object")
                if b"\\ud" in line or b"\\uD" in line:
                    refuse_halves(where, row)
                yield from self._responses(where, number, row)
        if not self._seen:
            raise InputError(f"{path}: there are no samples in it")
        self.docs = max(map(len, self._seen.values()))
        self._seen, self._copies = {}, {}  # of thousands of files, they would be too much

    def _responses(self, where: str, number: int, row: Mapping[str, Any]) -> list[Logged]:
        chosen = str(row.get("filter") or "none")
        self._refuse_second(where, number, row, chosen)
        asked = requests(where, row)
        metrics = row.get("metrics") or [name for name in (*READINGS, *_PREFERRED) if name in row]
        if not isinstance(metrics, list) or not all(isinstance(name, str) for name in metrics):
            raise InputError(f"{where}: field 'metrics' is no list of names")
        if self._chooses(asked):
            item, wording = self._item(where, row), self._wording(where, row)
            return self._options(
                where, row, (item, wording), chosen, metrics, options(where, row, asked, self.asked.file)
            )
        metric = next((name for name in _PREFERRED if name in metrics), metrics[0] if metrics else "")
        score = self._score(row, metrics)
        if score is not None:
            item, wording, right = score
        else:
            item, wording, right = self._item(where, row), self._wording(where, row), _right(where, row, metric)
        attributes = {**self._attributes, "metric": "accuracy" if score else metric}
        condition = self._condition(where, chosen)
        one = Logged(
            where, self.asked.file.model, condition, item, wording, asked[0][0],
            answer=0 if right else 1, output=generated(row), attributes=attributes,
        )  # fmt: skip
        return [one]

    def _chooses(self, asked: Sequence[Request]) -> bool:
        kind = self.asked.file.config.get("output_type")
        return kind == "multiple_choice" if kind else len(asked) > 1 and isinstance(asked[0][1], str)

    def _options(
        self,
        where: str,
        row: Mapping[str, Any],
        of: tuple[str, str],
        chosen: str,
        metrics: Sequence[str],
        listed: Options,
    ) -> list[Logged]:
        """Make a response for every reading of a choice."""
        found, n = loglikelihoods(where, row), len(listed.words)
        if len(found) != n * (2 if listed.mutual else 1):
            raise InputError(f"{where}: {len(found)} log-likelihoods of {n} options; the row is not whole")
        own, alone, made = tuple(found[:n]), found[n:], []
        gold = _gold(row, listed, own)
        for metric, reading in READINGS.items():
            scores = _scores(metric, own, alone, listed) if metric == ACC or metric in metrics else None
            if scores is None:
                continue
            answer: int | None = scores.index(max(scores))
            words, said = listed.words, _right(where, row, metric) if metric in metrics else None
            if gold is not None:
                _refuse_contradiction(where, row, metric, said, answer == gold)
            elif self._outcomes and said is not None:
                words, answer = (), 0 if said else 1
            made.append(
                Logged(
                    where, self.asked.file.model, self._condition(where, chosen, reading), *of, listed.text, words,
                    gold, own if metric == ACC else None, listed.one_context, answer=answer,
                    attributes=self._attributes,
                )
            )  # fmt: skip
        return made

    def _refuse_second(self, where: str, number: int, row: Mapping[str, Any], chosen: str) -> None:
        """Refuse a document that the file has already under this filter; lm-eval adds to a file that is there."""
        doc = row.get("doc_id")
        if isinstance(doc, bool) or not isinstance(doc, int | str):
            raise InputError(f"{where}: field 'doc_id' is missing; these are no samples of lm-eval")
        first = self._seen.setdefault(chosen, {}).setdefault(doc, number)
        if first != number:
            raise InputError(
                f"{where}: doc_id {doc} with filter '{chosen}' is in line {first} already; the file was written twice: "
                "take the second rows out"
            )

    def _item(self, where: str, row: Mapping[str, Any]) -> str:
        """Name the item: of equal documents in one file, the second one's name ends in -2."""
        key = self._item_key or ("doc_hash" if row.get("doc_hash") else "doc_id")
        name = _field(where, row, key, "--item-key")
        if key == "doc_hash":
            name = name[:_HASH]
            copies = self._copies.setdefault(name, [])
            if row["doc_id"] not in copies:
                copies.append(row["doc_id"])
            if place := copies.index(row["doc_id"]):
                name += f"-{place + 1}"
        return f"{self.asked.base}/{name}" if self.asked.base else name

    def _wording(self, where: str, row: Mapping[str, Any]) -> str:
        own = [f"{name}-{_field(where, row, DOC + name, '--variant-key')}" for name in self.asked.fields]
        return "/".join(filter(None, (self.asked.wording, *own))) or self.asked.otherwise

    def _score(self, row: Mapping[str, Any], metrics: Sequence[str]) -> tuple[str, str, bool] | None:
        """Read a row of SCORE, whose metrics are lists: question, prompt or option, answer, right answer ...

        Its own keys tell item and wording, where none are given.
        """
        name = next((m for m in metrics if isinstance(row.get(m), list) and "accuracy" in m), None)
        if name is None or len(row[name]) < 4 or self._item_key or self.asked.fields:
            return None
        question, varied, answer, gold = row[name][:4]
        kind = "option" if "option" in name else "prompt"
        item = f"{self.asked.base}/{question}" if self.asked.base else str(question)
        wording = "/".join(filter(None, (self.asked.wording, f"{kind}-{varied}")))
        return item, wording, gold if isinstance(gold, bool) else answer == gold

    def _condition(self, where: str, chosen: str, reading: str = READINGS[ACC]) -> str:
        """Name the condition of a filter and a reading; note its fields."""
        known = self._named.get((chosen, reading))
        if known is not None:
            return known
        apart = reading if reading != READINGS[ACC] else ""
        name = "/".join(filter(None, (self.asked.condition, chosen if chosen != "none" else "", apart)))
        fields = {**self.asked.settings, "filter": chosen} | ({"reading": apart} if apart else {})
        if self._conditions.setdefault(name, fields) != fields:
            raise InputError(f"{where}: two ways of asking would both be '{name}'; import them into two run folders")
        self._named[chosen, reading] = name
        return name


def _scores(metric: str, own: Sequence[float], alone: Sequence[float], of: Options) -> Sequence[float] | None:
    """Compute what a metric compares; None where the row does not hold what it needs."""
    if metric == ACC:
        return own
    if metric == MUTUAL:
        return [value - other for value, other in zip(own, alone, strict=True)] if of.mutual else None
    lengths = of.lengths(metric == BYTES)
    # Where options stand in the text, it is not told what lm-eval takes for their length.
    return (
        [value / length for value, length in zip(own, lengths, strict=True)]
        if of.one_context and all(lengths)
        else None
    )


def _refuse_contradiction(where: str, row: Mapping[str, Any], metric: str, said: bool | None, right: bool) -> None:
    """Refuse a row whose metric says something else than its log-likelihoods."""
    if said is not None and said != right:
        raise InputError(
            f"{where}: {metric} is {shown(row[metric])}, but by {READINGS[metric]} the choice is "
            f"{'right' if right else 'wrong'} (target {shown(row.get('target'))}); leave this file out: the row is "
            "damaged, or the task judges in a way of its own"
        )


def _gold(row: Mapping[str, Any], of: Options, own: Sequence[float]) -> int | None:
    """Find the right option: `target` is its place or its words; None where neither, or each says another one.

    Where options stand in the text, `target` is what follows them; of two options, `acc` tells the right one.
    """
    if not of.one_context:
        if len(own) == 2 and row.get(ACC) in (0, 1):
            best = own.index(max(own))
            return best if row[ACC] else 1 - best
        return None
    target = str(row.get("target", "")).strip()
    places = {int(target)} if target.isdecimal() and int(target) < len(of.words) else set()
    if target in of.plain:
        places.add(of.plain.index(target))
    return places.pop() if len(places) == 1 else None


def _right(where: str, row: Mapping[str, Any], metric: str) -> bool:
    """Read a metric that says right or wrong."""
    value = row.get(metric)
    if value == BYPASS or metric == "bypass":
        raise InputError(f"{where}: its metric is bypass: lm-eval was told not to judge (--predict_only)")
    if isinstance(value, bool | int | float) and value in (0, 1):
        return bool(value)
    if not metric:
        raise InputError(f"{where}: names no metric, so that it does not say whether the answer is right")
    raise InputError(f"{where}: {metric} is {shown(value)}; right (1) or wrong (0) is needed")


def _field(where: str, row: Mapping[str, Any], key: str, option: str) -> str:
    """Read a field of the row, or with `doc.` of its document, that names something."""
    source = row.get("doc") if key.startswith(DOC) else row
    value = source.get(key.removeprefix(DOC)) if isinstance(source, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).strip():
        raise InputError(f"{where}: {key} is {shown(value)}; {option} needs text or a whole number")
    return str(value).strip()
