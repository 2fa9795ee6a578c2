"""Let every check of a call say what it says of wordings and decoys, and write it down after each of them."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ground.errors import InputError, format_quantity, shorten_text
from ground.locking import hold_lock_during_block
from ground.meaning.verdicts import MEANINGS
from ground.progress import print_progress, print_warning
from inference.asking.failures import NO_FAILURES
from inference.asking.one_model import Settings
from inference.judge.parts import LoadEngine
from inference.meaning.checks import ENTAILMENT, JUDGE, PEOPLE, SIMILARITY, WORDS, Check
from inference.meaning.decoys.making import make_decoys
from inference.meaning.questions import FIELDS, FOLDER, EntailmentQuestions, JudgeQuestions
from inference.meaning.reading import PairAsker, Reading
from inference.meaning.similarity import compute_or_read_cosine_by_pair_key
from inference.meaning.table import read_meaning_table, write_meaning_table_if_changed
from inference.meaning.verdicts import (
    ATTRIBUTE,
    Verdicts,
    add_meaning_attributes_or_drop_another,
    assess_checks_and_decide_verdicts,
    describe_file_and_omitted_wordings,
    describe_quality_of_check,
    describe_verdict_counts,
)
from inference.meaning.wordings import (
    ITEMS,
    Source,
    Wording,
    choose_prompt_language_for_wordings,
    index_text_pairs_by_key,
)
from inference.meaning.words import compute_jaccard_index_of_words
from inference.paraphrase import itemsfile
from inference.paraphrase.decoys import Decoy, read_decoys_csv
from inference.paraphrase.votes import (
    describe_accepted_decoys_by_annotator,
    parse_sheet_path_of_each_annotator,
    read_rows_of_filled_sheet,
    read_votes_of_sheets,
)
from inference.runfolder.store import look_up_python_and_library_versions
from inference.stimuli.entailment import read_entailment_prompts
from inference.stimuli.reading.files import expand_user_path
from inference.stimuli.templates.prompts import PromptBook

PER_KIND = 1  # decoys of each kind and item, unless the call says otherwise


class MeaningCheck:
    """One call of `waver meaning`; everything that can be refused without a model is, when it is made.

    Parameters
    ----------
    source
        The wordings.
    checks
        What the call asks for.
    options
        Those of `waver meaning`.
    settings
        How models are run.
    load
        Makes engines; None: as the settings say.
    """

    def __init__(
        self,
        source: Source,
        checks: Sequence[Check],
        options: argparse.Namespace,
        settings: Settings,
        load: LoadEngine | None = None,
    ) -> None:
        self._source, self._checks, self._options, self._settings = source, checks, options, settings
        for line in source.describe_unchecked_items_and_wordings():
            print_warning(line)
        self._table = read_meaning_table(source)
        self._askers = self._build_askers_of_models(load)
        self._sheets = parse_sheet_path_of_each_annotator(options.sheet) if options.sheet else {}
        for path in self._sheets.values():  # refused before decoys are made, which may take minutes
            read_rows_of_filled_sheet(path)
        self._about_decoys, decoys = self._make_or_read_decoys_and_their_record()
        self._wordings, self._decoys = source.wordings, source.build_decoy_wordings_beside_originals(decoys)
        self._pairs = index_text_pairs_by_key(self._wordings_and_decoys)
        self._sheet_digests: dict[str, str] = {}
        self._votes = self._read_votes_by_person_and_wording(decoys)

    @property
    def _wordings_and_decoys(self) -> list[Wording]:
        """Wordings, then decoys: the order of the rows."""
        return [*self._wordings, *self._decoys]

    def run_checks(self) -> None:
        """Make every check, write its rows as soon as it is made, and print what follows.

        Raises
        ------
        RunFailed
            Stopped, or questions failed; the rows that there are stay.
        InputError
            A model cannot be asked.
        """
        table = self._table
        table.about["decoys"] = self._about_decoys
        table.drop_scores_of_changed_texts(self._wordings_and_decoys)
        for name, votes in self._votes.items():
            table.replace_scores_of_check(name, *self._list_wordings_and_scores_voted_by_person(votes))
        table.about["sheets"] |= self._sheet_digests
        is_new = False
        for check in self._checks:
            reading = self._compute_or_ask_scores_of_one_check(check)
            scores = [reading.score_by_key.get(wording.pair.key) for wording in self._wordings_and_decoys]
            table.replace_scores_of_check(check.name, self._wordings_and_decoys, scores)
            table.about["checks"][check.name] = {**reading.about, "versions": look_up_python_and_library_versions()}
            is_new |= self._decide_verdicts_and_write_table_if_new(is_whole=reading.failure is None)[1]
            if reading.failure is not None:
                raise reading.failure
        verdicts, is_still_new = self._decide_verdicts_and_write_table_if_new()
        self._print_verdicts_and_write_items(verdicts, is_new or is_still_new)

    def _decide_verdicts_and_write_table_if_new(self, *, is_whole: bool = True) -> tuple[Verdicts, bool]:
        """Decide what wordings mean and write it, with what another call has written meanwhile; return if it is new."""
        table, out = self._table, self._source.out
        out.mkdir(parents=True, exist_ok=True)
        with hold_lock_during_block(out):
            latest = read_meaning_table(self._source)
            latest.drop_scores_of_changed_texts(self._wordings_and_decoys)
            table.replace_checks_of_other_calls_from_table(latest)
            verdicts = assess_checks_and_decide_verdicts(table, self._wordings, self._decoys)
            table.about.pop("thresholds", None)
            if is_whole:  # thresholds need all texts
                table.about["thresholds"] = verdicts.build_record_of_thresholds()
            return verdicts, write_meaning_table_if_changed(self._source, table, self._wordings_and_decoys)

    def _print_verdicts_and_write_items(self, verdicts: Verdicts, is_new: bool) -> None:
        """Print what follows for the wordings, and write it into items."""
        self._warn_of_checks_lacking_new_texts()
        if not is_new:
            print_progress(f"{self._source.results_file}: nothing new to write")
        for quality in verdicts.qualities:
            print(describe_quality_of_check(quality))
        is_silent = not any(verdicts.meaning_by_key.values())
        print(describe_verdict_counts(verdicts), file=sys.stderr if is_silent else sys.stdout)
        if not self._source.is_run:
            self._warn_of_replaced_attributes()
            items = add_meaning_attributes_or_drop_another(
                self._source.study.items, verdicts, drop_another=self._options.drop
            )
            itemsfile.write_items_file(self._source.out / ITEMS, items)
            n_left_out = sum(len(item.variants) for item in self._source.study.items) - sum(
                len(item.variants) for item in items
            )
            print(f"{self._source.out / ITEMS}: {describe_file_and_omitted_wordings(n_left_out)}; run this file")
        print(self._source.results_file)

    def _warn_of_replaced_attributes(self) -> None:
        """Say that items have an attribute with the name of the verdict, where it holds something else."""
        values = {
            variant.attributes[ATTRIBUTE] for variant in self._source.study.variants if ATTRIBUTE in variant.attributes
        }
        for value in sorted(values - set(MEANINGS))[:1]:
            print_warning(
                f"{ITEMS}: the verdict takes the place of the attribute {ATTRIBUTE} of your own, such as "
                f"{shorten_text(value, 40)!r}"
            )

    def _warn_of_checks_lacking_new_texts(self) -> None:
        """Name the checks of earlier calls that say nothing of some texts, which are new since then."""
        named, table = {check.name for check in self._checks}, self._table
        for name in table.checks_in_order_of_kind:
            lacking = len(self._wordings_and_decoys) - len(table.scores[name])
            if lacking and name not in named and not name.startswith(f"{PEOPLE}:"):
                texts = format_quantity(lacking, "text")
                print_warning(f"{name}: says nothing of {texts}; name it in --check to have them asked")

    def _make_or_read_decoys_and_their_record(self) -> tuple[dict[str, Any], list[Decoy]]:
        """Make the decoys or read their table; also what is recorded of them. An earlier call's are made again."""
        options, earlier = self._options, self._table.about["decoys"]
        if options.decoys_file is not None:
            path = expand_user_path(options.decoys_file)
            rows = read_decoys_csv(path, self._source.study.items)
            return {"file": path.name, "sha256": _compute_file_digest(path), "kinds": _list_decoy_kinds(rows)}, rows
        if options.decoys is None and "file" in earlier:
            raise InputError(
                f"{self._source.results_file}: was made with --decoys-file {earlier['file']}; name it again, or say "
                "--decoys N"
            )
        per_kind = options.decoys or earlier.get("per_kind", PER_KIND)
        seed = earlier.get("seed", 0) if options.seed is None else options.seed
        pipeline = options.pipeline or earlier.get("pipeline")
        decoys = make_decoys(self._source.study.items, per_kind=per_kind, seed=seed, pipeline=pipeline)
        for line in decoys.missing:
            print_warning(line)
        rows = list(decoys.rows)
        return {"per_kind": per_kind, "kinds": _list_decoy_kinds(rows), "seed": seed, "pipeline": pipeline}, rows

    def _read_votes_by_person_and_wording(self, decoys: Sequence[Decoy]) -> dict[str, dict[tuple[str, str], bool]]:
        """Read the sheets: people:NAME -> (item, variant) -> vote, wordings and decoys."""
        if not self._sheets:
            return {}
        votes = read_votes_of_sheets(self._sheets, self._source.study.items, decoys)
        self._sheet_digests = {name: _compute_file_digest(path) for name, path in self._sheets.items()}
        for line in (*describe_accepted_decoys_by_annotator(votes), *votes.notes):
            print_warning(line)
        return {f"{PEOPLE}:{name}": {**votes.wordings[name], **votes.decoys[name]} for name in self._sheets}

    def _list_wordings_and_scores_voted_by_person(
        self, votes: Mapping[tuple[str, str], bool]
    ) -> tuple[list[Wording], list[float]]:
        """List what a person voted on, and the votes as scores."""
        voted = [wording for wording in self._wordings_and_decoys if wording.key in votes]
        return voted, [float(votes[wording.key]) for wording in voted]

    def _build_askers_of_models(self, load: LoadEngine | None) -> dict[str, PairAsker]:
        """Make what asks a model, for the checks that do; a model that is not there is refused before any is asked."""
        options, kinds = self._options, {check.kind for check in self._checks}
        if options.prompt is not None and JUDGE not in kinds:
            raise InputError("--prompt is for judges: add --check judge=MODEL, or leave it out")
        if options.labels and ENTAILMENT not in kinds:
            raise InputError("--labels is for entailment models: add --check entailment=MODEL, or leave it out")
        language = choose_prompt_language_for_wordings(self._source, options.language)
        questions: dict[str, Callable[[], EntailmentQuestions | JudgeQuestions]] = {
            ENTAILMENT: lambda: EntailmentQuestions(read_entailment_prompts(language)),
            JUDGE: lambda: JudgeQuestions(PromptBook.load(options.prompt, FOLDER / f"prompt-{language}.yaml", FIELDS)),
        }
        return {
            check.name: PairAsker(
                check,
                self._source.folder_of_model_answers,
                self._settings,
                questions[check.kind](),
                classes=options.labels if check.kind == ENTAILMENT else (),
                load=load,
            )
            for check in self._checks
            if check.kind in questions
        }

    def _compute_or_ask_scores_of_one_check(self, check: Check) -> Reading:
        """Let one check say what it says of every pair of texts."""
        if check.kind == WORDS:
            scores = {key: compute_jaccard_index_of_words(*pair) for key, pair in self._pairs.items()}
            return Reading(scores, {})
        if check.kind == SIMILARITY:
            assert check.model is not None
            return compute_or_read_cosine_by_pair_key(
                check.model, self._pairs, self._source.folder_of_model_answers, self._settings
            )
        allowed = self._options.allow_failed or NO_FAILURES
        try:
            return self._askers[check.name].ask_and_score_pairs(self._pairs, self._options.call, allowed)
        except InputError as error:  # it speaks of --model, as the option is called elsewhere
            raise InputError(str(error).replace("another --model", f"another {check.option}=MODEL", 1)) from None


def _list_decoy_kinds(decoys: Sequence[Decoy]) -> list[str]:
    """List the kinds of decoys that there are."""
    return sorted({decoy.decoy for decoy in decoys})


def _compute_file_digest(path: Path) -> str:
    """Compute the digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
