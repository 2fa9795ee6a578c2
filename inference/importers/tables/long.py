"""Make the study of a long table, group its rows by response, and make the responses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ground.errors import InputError
from inference.importers.tables.columns import CodedPairs, number_equal_rows_and_find_first_of_each
from inference.stimuli.scales import KEY, SCALE, parse_scoring_key_of_item, refuse_scales_with_only_one_item
from inference.stimuli.study import ORIGINAL, Item, Option, Study, Variant

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from inference.importers.shared.measures import Labels, Measure
    from inference.importers.tables.long_rows import LongTable, Stimulus

TOGETHER = 50_000  # responses of one table; fewer where their texts are long: a column of Arrow holds 2**31 bytes
LARGEST = 2**28  # bytes that these may have on average


def build_table_study(
    table: LongTable,
    name: str,
    measure: Labels,
    *,
    language: str | None,
    source: str,
    shares_wordings: bool = False,
    protocol: str = "agreement",
    ordered: bool = False,
) -> Study:
    """Make the study: items and variants in order of appearance.

    Parameters
    ----------
    table
        The rows.
    name
        Name of the study.
    measure
        Reads right answers and names the options.
    language
        Language of all texts; None: not known.
    source
        Where the table is from.
    shares_wordings
        Whether variants of one id are one template, in all items; their attribute `template` is that id.
    protocol
        Of the study; in one of scores, originals are wordings like any others, so that they may be templates, too.
    ordered
        Whether the labels are ordered, the lowest first: then the study is of rating scales, whatever `protocol` says.

    Returns
    -------
    The study.

    Raises
    ------
    InputError
        An item has two originals, a right answer is no option, or a scale or key is wrong.
    """
    protocol = "scale" if ordered else protocol
    ranks = tuple(map(str, range(1, len(measure.labels) + 1))) if ordered else measure.labels
    options = tuple(map(Option, measure.labels, ranks))
    originals: dict[str, Stimulus] = {}
    items: dict[str, list[Variant]] = {}
    attributes_by_template: dict[str, dict[str, str]] = {"": {}}  # "": none; one object for all wordings of a template
    for stimulus in table.stimuli:
        if stimulus.pattern == ORIGINAL and originals.setdefault(stimulus.item, stimulus) is not stimulus:
            raise InputError(
                f"{table.place[stimulus.row]}: item '{stimulus.item}' has a second original, '{stimulus.variant}'; "
                f"the first is in {table.place[originals[stimulus.item].row]}"
            )
        gold = measure.find_label_of_right_answer_or_none(stimulus.gold) if stimulus.gold else None
        if stimulus.gold and gold is None:
            raise InputError(
                f"{table.place[stimulus.row]}: the right answer '{stimulus.gold:.40}' is none of "
                f"{', '.join(measure.labels)}"
            )
        is_template = shares_wordings and (protocol == "scored" or stimulus.pattern != ORIGINAL)
        template = stimulus.variant if is_template else ""
        attributes = attributes_by_template.setdefault(template, {"template": template})
        if ordered:
            key = parse_scoring_key_of_item(table.place[stimulus.row], stimulus.key or None)
            attributes = {**attributes, KEY: key, **({SCALE: stimulus.scale} if stimulus.scale else {})}
        variant = Variant(
            stimulus.item,
            stimulus.variant,
            stimulus.pattern,
            stimulus.text,
            options,
            language=language,
            gold=gold,
            attributes=attributes,
        )
        items.setdefault(stimulus.item, []).append(variant)
    study_items = tuple(Item(item, tuple(variants)) for item, variants in items.items())
    if ordered:
        _refuse_contradicting_scales(source, study_items)
    return Study(
        protocol=protocol,
        name=name,
        items=study_items,
        canonical=ranks,
        decision_rule=measure.decision_rule,
        source=source,
    )


def _refuse_contradicting_scales(source: str, study_items: Sequence[Item]) -> None:
    """Refuse an item whose wordings have two scales or keys, and a scale of one item."""
    for item in study_items:
        for name in (SCALE, KEY):
            values = list(dict.fromkeys(variant.attributes.get(name) for variant in item.variants))
            if len(values) > 1:
                raise InputError(
                    f"{source}, item '{item.item}': its wordings have the {name} '{values[0]}' and '{values[1]}'; an "
                    "item has one"
                )
    refuse_scales_with_only_one_item(source, study_items)


def number_responses_refusing_repeats(table: LongTable, *, allows_samples: bool) -> tuple[np.ndarray, np.ndarray]:
    """Group rows by response: by model, condition, item and variant.

    Parameters
    ----------
    table
        The rows.
    allows_samples
        Whether several rows of one response in one file are its samples.

    Returns
    -------
    of, first
        As `number_equal_rows_and_find_first_of_each` has them.

    Raises
    ------
    InputError
        A response repeats in another file, or without `allows_samples` in the same one.
    """
    of, first = number_equal_rows_and_find_first_of_each(table.model_conditions, table.stimulus)
    _refuse_repeated_rows(table, of, first, allows_samples=allows_samples)
    return of, first


def build_table_responses(
    table: LongTable, response_numbers: np.ndarray, first_row_of_response: np.ndarray, measure: Measure
) -> Iterator[pa.Table]:
    """Make one row per response, in order of appearance, without `study`: some at a time.

    Parameters
    ----------
    table
        The rows.
    response_numbers, first_row_of_response
        The responses, as `number_responses_refusing_repeats` made them.
    measure
        Reads the value columns.

    Yields
    ------
    Tables with columns of `results/schema.json`.

    Raises
    ------
    InputError
        A value that the measure refuses.
    """
    import pyarrow as pa

    from inference.importers.shared.measures import ResponseRows

    names = {
        **split_pairs_into_coded_columns(("model", "condition"), table.model_conditions),
        **split_pairs_into_coded_columns(("item", "variant"), table.stimulus),
    }
    values = [column.array() for column in table.values]
    for first_rows, rows, of in split_responses_into_memory_batches(table, response_numbers, first_row_of_response):
        cells = [column.take(pa.array(rows)) for column in values]
        response_columns = measure.build_response_columns(cells, ResponseRows(table.place, rows, of, len(first_rows)))
        yield pa.table(
            {
                **response_columns,
                **{name: texts.take(pa.array(codes[first_rows])) for name, (texts, codes) in names.items()},
            }
        )


def split_responses_into_memory_batches(
    table: LongTable, response_numbers: np.ndarray, first_row_of_response: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Split the responses of a table into batches that fit into memory.

    Parameters
    ----------
    table
        The rows.
    response_numbers, first_row_of_response
        The responses, as `number_responses_refusing_repeats` made them.

    Yields
    ------
    Of each batch: the first row of every response; all of its rows, ordered by response; and the response of each of
    these, from 0 on.
    """
    import numpy as np

    n_bytes = sum(column.array().nbytes for column in table.values)
    batch_size = max(1, min(TOGETHER, LARGEST * len(first_row_of_response) // max(1, n_bytes)))
    for start in range(0, len(first_row_of_response), batch_size):
        first_rows = first_row_of_response[start : start + batch_size]
        rows = np.flatnonzero((response_numbers >= start) & (response_numbers < start + len(first_rows)))
        # Example: of rows 0 to 3 of the responses 1, 0, 1, 0, the order is 1, 3, 0, 2.
        rows = rows[np.argsort(response_numbers[rows], kind="stable")]  # those of the first response, of the second ...
        yield first_rows, rows, response_numbers[rows] - start


def split_pairs_into_coded_columns(
    column_names: Sequence[str], coded_pairs: CodedPairs
) -> dict[str, tuple[pa.Array, np.ndarray]]:
    """Split coded pairs into columns.

    Parameters
    ----------
    column_names
        Names of the two columns.
    coded_pairs
        Their texts.

    Returns
    -------
    Name -> its text in each distinct pair, and the pair's place of every row.
    """
    import pyarrow as pa

    return {
        name: (pa.array([pair[at] for pair in coded_pairs.pairs], pa.string()), coded_pairs.codes)
        for at, name in enumerate(column_names)
    }


def _refuse_repeated_rows(
    table: LongTable, response_numbers: np.ndarray, first_row_of_response: np.ndarray, *, allows_samples: bool
) -> None:
    """Refuse a second row of one response: in another file always, in the same one unless it is a sample."""
    import numpy as np

    first_row_of_response = first_row_of_response[response_numbers]  # of every row, the first with its key
    is_wrong = first_row_of_response != np.arange(len(first_row_of_response), dtype=np.int32)
    if not is_wrong.any():
        return
    file = table.place.file_number_of_each_row
    elsewhere = file[first_row_of_response] != file
    wrong = np.flatnonzero(elsewhere if allows_samples else is_wrong)
    if not len(wrong):
        return
    row = int(wrong[0])
    key = "', '".join((*table.model_conditions[row], *table.stimulus[row]))
    same = (
        f"{table.place[row]}: the same model, condition, item and variant as in "
        f"{table.place[first_row_of_response[row]]} ('{key}')"
    )
    if elsewhere[row]:
        raise InputError(
            f"{same}; leave one file out, tell their models apart by NAME=FILE or --model-column, or put the samples "
            "of one response into one file"
        )
    raise InputError(
        f"{same}; tell the rows apart by --variant-column or --condition-column, or, if they are sampled answers to "
        "one prompt, add --repeated samples"
    )
