"""Read rows of lm-eval samples: a `LoggedResponse` for every reading of a row.

A row has one request per option, or one that asks for a text. It is read as its metrics say:

- `acc`: the option with the highest log-likelihood, the first of equal ones;
- `acc_norm`, `acc_bytes`: the highest per character or per byte of the option, without the delimiter before it;
- `acc_mutual_info`: the highest difference from its log-likelihood without the text, which a second request per
  option asks for;
- other metrics, of texts: right where it is 1, wrong where it is 0. Rows of SCORE have the answer and the right one.

Each but the first is a condition of its own, and so is each filter: these are readings of the same answers. A metric of
texts counts as a reading where it is 0 or 1 in all rows of its task (`judgements`). A metric of a choice that the row
states must agree with its log-likelihoods.
"""

from __future__ import annotations

import json
import math
from codecs import BOM_UTF8
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ground.errors import InputError, format_quantity
from inference.importers.lm_eval.judgements import (
    ACC,
    BYTES,
    MUTUAL,
    PREFERRED,
    READINGS,
    list_row_metrics,
    parse_right_or_wrong,
)
from inference.importers.lm_eval.requests import (
    Request,
    RowOptions,
    has_exclusive_continuations,
    list_generated_texts,
    parse_loglikelihoods,
    parse_requests_of_row,
    parse_row_options,
)
from inference.importers.lm_eval.wordings import DOC, WordedFile
from inference.importers.shared import waver_fields
from inference.importers.shared.json_log import refuse_half_surrogates
from inference.importers.shared.logged_responses import LoggedResponse
from inference.importers.shared.logged_stimuli import compute_option_probabilities
from inference.stimuli.reading.files import shorten_value

_HASH = 16  # letters of `doc_hash` that name an item


class LmEvalRows:
    """The responses of one file, to be gone through once.

    Parameters
    ----------
    worded_file
        The file with its wording and condition.
    item_key
        `doc_hash`, `doc_id` or `doc.FIELD`; None: what Waver or SCORE wrote into the rows, else `doc_hash` or `doc_id`.
    outcomes_only
        Whether only right or wrong is wanted.
    conditions
        Condition name -> fields, of all files; filled here.
    judging_metrics
        Of texts: the metrics that say right or wrong throughout the task (`judgements`), where rows have several.

    Attributes
    ----------
    docs
        How many documents there were.
    other_metrics
        Names of metrics that have numbers and are no reading of an answer.
    """

    def __init__(
        self,
        worded_file: WordedFile,
        item_key: str | None,
        outcomes_only: bool,
        conditions: dict[str, dict[str, Any]],
        judging_metrics: Sequence[str] = (),
    ) -> None:
        self.worded_file, self.docs = worded_file, 0
        self.other_metrics: dict[str, None] = {}
        self._judging_metrics = judging_metrics
        self._item_key, self._outcomes, self._conditions = item_key, outcomes_only, conditions
        self._line_by_document: dict[str, dict[Any, int]] = {}  # filter -> doc_id -> line
        self._copies: dict[str, list[Any]] = {}  # doc_hash -> doc_ids
        self._condition_by_fields: dict[tuple[Any, ...], str] = {}  # filter, and what else names the condition
        self._attributes = {"subset": worded_file.base or worded_file.file.task}

    def __iter__(self) -> Iterator[LoggedResponse]:
        path, decode = self.worded_file.file.path, json.JSONDecoder().decode
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.isspace():
                    continue
                where = f"{path}, line {number}"
                try:
                    row = decode(line.removeprefix(BOM_UTF8).decode())
                except (ValueError, RecursionError) as error:
                    kind = "not UTF-8" if isinstance(error, UnicodeDecodeError) else "not a JSON object"
                    cut = "" if line.endswith(b"\n") else "; the file ends within a row"
                    raise InputError(f"{where}: {kind}{cut}; log it again, or take the row out") from None
                if not isinstance(row, dict):
                    raise InputError(f"{where}: expected one sample as a JSON object")
                if b"\\ud" in line or b"\\uD" in line:
                    refuse_half_surrogates(where, row)
                yield from self._parse_responses_of_row(where, number, row)
        if not self._line_by_document:
            raise InputError(f"{path}: there are no samples in it")
        self.docs = max(map(len, self._line_by_document.values()))
        self._line_by_document, self._copies = {}, {}  # of thousands of files, they would be too much

    def _parse_responses_of_row(self, where: str, number: int, row: Mapping[str, Any]) -> list[LoggedResponse]:
        """Make the responses of a row: one per metric that says which option or text is right."""
        filter_name = str(row.get("filter") or "none")
        self._refuse_repeated_document(where, number, row, filter_name)
        row_requests = parse_requests_of_row(where, row)
        metrics = list_row_metrics(where, row)
        if self._is_multiple_choice(row_requests):
            item, wording = self._name_row_item(where, row), self._name_row_wording(where, row)
            self._note_numeric_metrics_not_imported(row, metrics, READINGS)
            return self._build_choice_response_per_metric(
                where,
                row,
                (item, wording),
                filter_name,
                metrics,
                parse_row_options(where, row, row_requests, self.worded_file.file),
            )
        score = self._parse_row_of_score_robustness_suite(row, metrics)
        if score is not None:
            condition = self._record_reading_condition(where, filter_name)
            return [self._build_text_response(where, row, row_requests, "accuracy", condition, *score)]
        item, wording = self._name_row_item(where, row), self._name_row_wording(where, row)
        counting_metric = next((name for name in (*PREFERRED, *self._judging_metrics, *metrics) if name in metrics), "")
        others = [name for name in self._judging_metrics if name in metrics and name != counting_metric]
        self._note_numeric_metrics_not_imported(row, metrics, (counting_metric, *others))
        return [
            self._build_text_response(
                where,
                row,
                row_requests,
                counting_metric,
                self._record_reading_condition(where, filter_name, metric="" if metric == counting_metric else metric),
                item,
                wording,
                parse_right_or_wrong(where, row, metric),
            )
            for metric in (counting_metric, *others)
        ]

    def _note_numeric_metrics_not_imported(
        self, row: Mapping[str, Any], metrics: Sequence[str], read: Collection[str]
    ) -> None:
        """Note the metrics of a row that have a number and are not read."""
        for metric in metrics:
            if metric not in read and isinstance(row.get(metric), int | float):
                self.other_metrics[metric] = None

    def _build_text_response(
        self,
        where: str,
        row: Mapping[str, Any],
        row_requests: Sequence[Request],
        counting_metric: str,
        condition: str,
        item: str,
        wording: str,
        right: bool,
    ) -> LoggedResponse:
        """Make the response of a generated text by one metric; its stimulus names the metric that counts."""
        return LoggedResponse(
            where, self.worded_file.file.model, condition, item, wording, row_requests[0][0],
            answer=0 if right else 1, output=list_generated_texts(row),
            attributes={**self._attributes, "metric": counting_metric},
        )  # fmt: skip

    def _is_multiple_choice(self, row_requests: Sequence[Request]) -> bool:
        """Tell whether a row chooses among options, by the task's type or by its requests."""
        kind = self.worded_file.file.config.get("output_type")
        return kind == "multiple_choice" if kind else len(row_requests) > 1 and isinstance(row_requests[0][1], str)

    def _build_choice_response_per_metric(
        self,
        where: str,
        row: Mapping[str, Any],
        item_and_wording: tuple[str, str],
        filter_name: str,
        metrics: Sequence[str],
        row_options: RowOptions,
    ) -> list[LoggedResponse]:
        """Make a response per metric (acc, acc_norm ...): the option that is best by it."""
        log_likelihoods, n = parse_loglikelihoods(where, row), len(row_options.words)
        if len(log_likelihoods) != n * (2 if row_options.mutual else 1):
            raise InputError(
                f"{where}: {format_quantity(len(log_likelihoods), 'log-likelihood')} of {n} options; the row is "
                "not whole"
            )
        after_text, without_text, responses = tuple(log_likelihoods[:n]), log_likelihoods[n:], []
        gold = _find_index_of_right_option(row, row_options, after_text)
        # Options of which one begins another have answers alone, once they show that they do not exclude each other.
        is_one_distribution = row_options.one_context and (
            math.fsum(map(math.exp, after_text)) <= 1 or has_exclusive_continuations(row_options.continuations)
        )
        if is_one_distribution:  # what is no distribution is refused while its log can still be left out of a folder
            compute_option_probabilities(where, after_text)
        for metric, reading in READINGS.items():
            scores = (
                _compute_option_scores_of_metric(metric, after_text, without_text, row_options)
                if metric == ACC or metric in metrics
                else None
            )
            if scores is None:
                continue
            answer: int | None = scores.index(max(scores))
            words, stated_right = (
                row_options.words,
                parse_right_or_wrong(where, row, metric) if metric in metrics else None,
            )
            if gold is not None:
                _refuse_contradicting_metric(where, row, metric, stated_right, answer == gold)
            elif self._outcomes:
                if stated_right is None:
                    continue  # nothing tells right from wrong
                words, answer = (), 0 if stated_right else 1
            responses.append(
                LoggedResponse(
                    where, self.worded_file.file.model, self._record_reading_condition(where, filter_name, reading),
                    *item_and_wording, row_options.text, words,
                    gold, after_text if metric == ACC else None, is_one_distribution, answer=answer,
                    attributes=self._attributes,
                    own_choices=waver_fields.restore_choice_order(where, row.get("doc"), words),
                )
            )  # fmt: skip
        if not responses:
            raise InputError(
                f"{where}: no right option is named (target {shorten_value(row.get('target'))}), and no metric says "
                "whether the answer is right; --scores imports numbers"
            )
        return responses

    def _refuse_repeated_document(self, where: str, number: int, row: Mapping[str, Any], filter_name: str) -> None:
        """Refuse a document that the file has already under this filter; lm-eval adds to a file that is there."""
        doc = row.get("doc_id")
        if isinstance(doc, bool) or not isinstance(doc, int | str):
            raise InputError(f"{where}: field 'doc_id' is missing; these are no samples of lm-eval")
        first = self._line_by_document.setdefault(filter_name, {}).setdefault(doc, number)
        if first != number:
            raise InputError(
                f"{where}: doc_id {doc} with filter '{filter_name}' is in line {first} already; the file was written "
                "twice: take the second rows out"
            )

    def _name_row_item(self, where: str, row: Mapping[str, Any]) -> str:
        """Name the item: of equal documents in one file, the second one's name ends in -2."""
        waver_names = self._read_item_and_wording_by_waver(where, row)
        if waver_names is not None:
            return waver_names[0]
        key = self._item_key or ("doc_hash" if row.get("doc_hash") else "doc_id")
        name = _parse_naming_field(where, row, key, "--item-key")
        if key == "doc_hash":
            name = name[:_HASH]
            copies = self._copies.setdefault(name, [])
            if row["doc_id"] not in copies:
                copies.append(row["doc_id"])
            if place := copies.index(row["doc_id"]):
                name += f"-{place + 1}"
        return f"{self.worded_file.base}/{name}" if self.worded_file.base else name

    def _name_row_wording(self, where: str, row: Mapping[str, Any]) -> str:
        """Name the wording of a row, by its file and by the fields that tell wordings apart."""
        waver_names = self._read_item_and_wording_by_waver(where, row)
        if waver_names is not None:
            return "/".join(filter(None, (self.worded_file.wording, waver_names[1])))
        field_parts = [
            f"{name}-{_parse_naming_field(where, row, DOC + name, '--variant-key')}" for name in self.worded_file.fields
        ]
        return "/".join(filter(None, (self.worded_file.wording, *field_parts))) or self.worded_file.otherwise

    def _read_item_and_wording_by_waver(self, where: str, row: Mapping[str, Any]) -> tuple[str, str] | None:
        """Read item and wording where `waver choice lm-eval` wrote the task, and no key says otherwise."""
        if self._item_key is not None or self.worded_file.fields:
            return None
        return waver_fields.read_item_and_wording_of_sample(where, row.get("doc"))

    def _parse_row_of_score_robustness_suite(
        self, row: Mapping[str, Any], metrics: Sequence[str]
    ) -> tuple[str, str, bool] | None:
        """Read a row of SCORE, whose metrics are lists: question, prompt or option, answer, right answer ...

        Its own keys tell item and wording, where none are given.
        """
        name = next((m for m in metrics if isinstance(row.get(m), list) and "accuracy" in m), None)
        if name is None or len(row[name]) < 4 or self._item_key or self.worded_file.fields:
            return None
        question, varied, answer, gold = row[name][:4]
        kind = "option" if "option" in name else "prompt"
        item = f"{self.worded_file.base}/{question}" if self.worded_file.base else str(question)
        wording = "/".join(filter(None, (self.worded_file.wording, f"{kind}-{varied}")))
        return item, wording, gold if isinstance(gold, bool) else answer == gold

    def _record_reading_condition(
        self, where: str, filter_name: str, reading: str = READINGS[ACC], metric: str = ""
    ) -> str:
        """Name the condition of a filter and a reading, or of another metric of texts than the one that counts."""
        reading_fields = {"reading": reading if reading != READINGS[ACC] else "", "metric": metric}
        reading_fields = {field: value for field, value in reading_fields.items() if value}
        return self._name_and_record_condition(where, filter_name, reading_fields, "ways of asking would both be")

    def _name_and_record_condition(
        self, where: str, filter_name: str, named_fields: Mapping[str, str], clash: str
    ) -> str:
        """Name a condition by the file, the filter and other fields, and record it; refuse one name for two."""
        key = filter_name, *named_fields.items()
        if key not in self._condition_by_fields:
            parts = (self.worded_file.condition, filter_name if filter_name != "none" else "", *named_fields.values())
            name = "/".join(filter(None, parts))
            fields = {**self.worded_file.settings, "filter": filter_name, **named_fields}
            if self._conditions.setdefault(name, fields) != fields:
                raise InputError(f"{where}: two {clash} '{name}'; import them into two run folders")
            self._condition_by_fields[key] = name
        return self._condition_by_fields[key]


def _compute_option_scores_of_metric(
    metric: str, after_text: Sequence[float], without_text: Sequence[float], row_options: RowOptions
) -> Sequence[float] | None:
    """Compute what a metric compares; None where the row does not hold what it needs."""
    if metric == ACC:
        return after_text
    if metric == MUTUAL:
        return (
            [value - other for value, other in zip(after_text, without_text, strict=True)]
            if row_options.mutual
            else None
        )
    lengths = [len(text.encode() if metric == BYTES else text) for text in row_options.continuations]
    # Where options stand in the text, the row does not say what lm-eval takes for their length.
    return (
        [value / length for value, length in zip(after_text, lengths, strict=True)]
        if row_options.one_context and all(lengths)
        else None
    )


def _refuse_contradicting_metric(
    where: str, row: Mapping[str, Any], metric: str, stated_right: bool | None, right: bool
) -> None:
    """Refuse a row whose metric says something else than its log-likelihoods."""
    if stated_right is not None and stated_right != right:
        raise InputError(
            f"{where}: {metric} is {shorten_value(row[metric])}, but by {READINGS[metric]} the choice is "
            f"{'right' if right else 'wrong'} (target {shorten_value(row.get('target'))}); leave this file out: the "
            "row is damaged, or the task judges in a way of its own"
        )


def _find_index_of_right_option(
    row: Mapping[str, Any], row_options: RowOptions, after_text: Sequence[float]
) -> int | None:
    """Find the right option: `target` is its place or its words; None where neither, or each says another one.

    Where options stand in the text, `target` is what follows them; of two options, `acc` tells the right one.
    """
    if not row_options.one_context:
        if len(after_text) == 2 and row.get(ACC) in (0, 1):
            best = after_text.index(max(after_text))
            return best if row[ACC] else 1 - best
        return None
    target = str(row.get("target", "")).strip()
    is_place = target.isascii() and target.isdecimal() and len(target) < 10 and int(target) < len(row_options.words)
    places = {int(target)} if is_place else set()
    if target in row_options.plain:
        places.add(row_options.plain.index(target))
    return places.pop() if len(places) == 1 else None


def _parse_naming_field(where: str, row: Mapping[str, Any], key: str, option: str) -> str:
    """Read a field of the row, or with `doc.` of its document, that names something."""
    source = row.get("doc") if key.startswith(DOC) else row
    value = source.get(key.removeprefix(DOC)) if isinstance(source, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).strip():
        raise InputError(f"{where}: {key} is {shorten_value(value)}; {option} needs text or a whole number")
    return str(value).strip()
