"""Match the models of a run with those of a leaderboard, by name or by a written alias, never by a guess."""

from __future__ import annotations

import difflib
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from analysis.runs import reading
from ground.errors import InputError, shorten_to_one_line

COLUMNS = ["side", "model", "matched", "by", "nearest", "similarity"]
_SHORTLIST = 12  # number of names compared letter by letter: those that share most groups of three letters


def read_alias_by_run_model(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read an alias table: the run's name of a model -> its name in the scores.

    The file is CSV with columns model and alias, or YAML that maps one to the other.

    Raises
    ------
    InputError
        For a file that cannot be read (`analysis.runs.reading`), is neither CSV nor YAML, lacks a column (CSV), maps
        no names to names (YAML), or gives one model no alias or two.
    """
    file = Path(path)
    ending = file.suffix.casefold()
    if ending not in (".csv", ".yml", ".yaml"):
        raise InputError(f"{file}: aliases are read from .csv, .yaml or .yml")
    pairs: dict[str, str] = {}
    for where, name, alias in (
        _iterate_csv_aliases_with_location(file) if ending == ".csv" else _iterate_yaml_aliases_with_location(file)
    ):
        if not name or not alias:
            raise InputError(f"{file}: {where}: no {'alias' if name else 'model'}; give both, or leave the row out")
        if name in pairs:
            raise InputError(f"{file}: {where}: {shorten_to_one_line(repr(name))} has two aliases; give it one")
        pairs[name] = alias
    return pairs


def _iterate_csv_aliases_with_location(file: Path) -> Iterator[tuple[str, str, str]]:
    """Yield where each row of an alias table stands, the model and its alias."""
    for line, cells in reading.read_csv_file(file):
        if not {"model", "alias"} <= cells.keys():
            raise InputError(f"{file}: an alias table has the columns model and alias")
        yield f"line {line}", cells["model"], cells["alias"]


def _iterate_yaml_aliases_with_location(file: Path) -> Iterator[tuple[str, str, str | None]]:
    """Yield where each entry of an alias table stands, the model and its alias."""
    content = reading.read_yaml_file(file)
    if not isinstance(content, dict):
        raise InputError(f"{file}: an alias table in YAML maps a run's model names to names in the scores")
    for name, alias in content.items():
        if not isinstance(alias, str | None):
            raise InputError(f"{file}: {shorten_to_one_line(repr(name))}: a list or a mapping where one name belongs")
        yield f"model {shorten_to_one_line(repr(name))}", name, alias


def match_models_to_scored_models(
    models: Sequence[str],
    scored_models: Iterable[str],
    aliases: Mapping[str, str] | None = None,
    aliases_file: str = "aliases",
) -> pd.DataFrame:
    """Find every model of the runs among the scored ones.

    An alias decides; else the same name in any case; else the same name without its organisation, if only one of the
    two names an organisation and only one name fits. The others stay unmatched, with the nearest name of the other
    side.

    Parameters
    ----------
    models
        Names of models in the runs.
    scored_models
        Names of models in the scores; repeated ones count once.
    aliases
        From `read_alias_by_run_model`; None: no aliases.
    aliases_file
        The file of the aliases, for the message.

    Returns
    -------
    DataFrame
        side ("runs" or "scores"), model, matched (the name on the other side; empty: none), by ("alias", "name", "name
        without organisation"), nearest (the most similar unmatched name of the other side; empty: none), similarity (0
        to 1; difflib's ratio). First the models of the runs, then the scored models without a match.

    Raises
    ------
    InputError
        For an alias that is not among the scores; the message begins with `aliases_file`.
    """
    names = list(dict.fromkeys(scored_models))
    matches = _match_models_by_alias_or_name(models, names, dict(aliases or {}), aliases_file)
    matched_names = {name for name, _ in matches.values()}
    unmatched_names = [name for name in names if name not in matched_names]
    near_scored, near_runs = _NameIndex(unmatched_names), _NameIndex([name for name in models if name not in matches])
    rows = [
        ("runs", name, *matches[name], "", float("nan"))
        if name in matches
        else ("runs", name, "", "", *near_scored.find_nearest_name_and_similarity(name))
        for name in models
    ]
    rows += [("scores", name, "", "", *near_runs.find_nearest_name_and_similarity(name)) for name in unmatched_names]
    return pd.DataFrame(rows, columns=COLUMNS)


def _match_models_by_alias_or_name(
    models: Sequence[str], scored_models: Sequence[str], aliases: dict[str, str], aliases_file: str
) -> dict[str, tuple[str, str]]:
    """Return model of the runs -> (its name in the scores, what matched it); no entry without a match."""
    name_set = set(scored_models)
    names_by_folded: dict[str, list[str]] = defaultdict(list)
    names_by_bare: dict[str, list[str]] = defaultdict(list)
    for name in scored_models:
        names_by_folded[name.casefold()].append(name)
        names_by_bare[_strip_organisation(name)].append(name)
    matches: dict[str, tuple[str, str]] = {}
    for model in models:
        if model in aliases:
            if aliases[model] not in name_set:
                likely, _ = _NameIndex(scored_models).find_nearest_name_and_similarity(aliases[model])
                raise InputError(
                    f"{aliases_file}: alias {shorten_to_one_line(repr(aliases[model]))} of "
                    f"{shorten_to_one_line(repr(model))} is not among the scores; nearest is {likely!r}"
                )
            matches[model] = (aliases[model], "alias")
        elif model in name_set:
            matches[model] = (model, "name")
        elif len(names_by_folded[model.casefold()]) == 1:
            matches[model] = (names_by_folded[model.casefold()][0], "name")
        elif len(candidates := names_by_bare[_strip_organisation(model)]) == 1 and ("/" in model) != (
            "/" in candidates[0]
        ):
            matches[model] = (candidates[0], "name without organisation")
    return matches


def _strip_organisation(name: str) -> str:
    """Return the name without its organisation, in lower case."""
    return name.rsplit("/", 1)[-1].casefold()


class _NameIndex:
    """Find the most similar of many names: compare closely only the few that share most groups of three letters."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.holders: dict[str, list[int]] = defaultdict(list)
        for place, name in enumerate(names):
            for part in _list_trigrams(name):
                self.holders[part].append(place)

    def find_nearest_name_and_similarity(self, name: str) -> tuple[str, float]:
        """Return the nearest name and its similarity; ("", NaN) if no group of three letters is shared."""
        shared_counts: Counter[int] = Counter()
        for part in _list_trigrams(name):
            shared_counts.update(self.holders.get(part, ()))
        shortlist = sorted(
            shared_counts, key=lambda place: (-shared_counts[place], abs(len(self.names[place]) - len(name)), place)
        )
        best = max(
            ((_compute_name_similarity(name, self.names[place]), -place) for place in shortlist[:_SHORTLIST]),
            default=(float("nan"), 1),
        )
        return (self.names[-best[1]], best[0]) if best[1] <= 0 else ("", best[0])


def _list_trigrams(name: str) -> set[str]:
    """Return the groups of three letters of a name, in lower case and padded."""
    padded = f"  {name.casefold()} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


def _compute_name_similarity(name_a: str, name_b: str) -> float:
    """Return difflib's ratio of two names in lower case, 0 to 1."""
    return difflib.SequenceMatcher(None, name_a.casefold(), name_b.casefold(), autojunk=False).ratio()
