"""Call the two answers that a page is about by their names: not every study asks for “agree” or “disagree”."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from analysis.reporting.catalogue.grid import Grid

AGREE = ("agree", "disagree")
MIXED = ("the first answer", "the second answer")  # of studies that differ in their answers
ATTRIBUTE = "answers"  # where a frame carries the names, from the runs to plots, captions and printed tables


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The names of the two answers in the frame of the original item; the first is what agreement is about."""

    first: str = AGREE[0]
    second: str = AGREE[1]

    @property
    def is_agree_disagree(self) -> bool:
        """Return whether the answers are “agree” and “disagree”."""
        return (self.first, self.second) == AGREE

    @property
    def measure_phrase(self) -> str:
        """Name the probability of the first answer, divided by that of both."""
        return "agreement" if self.is_agree_disagree else f"share of {quote_answer(self.first)}"

    @property
    def measure_phrase_with_article(self) -> str:
        """Name the measure within a sentence: "agreement", or "the share of “left”"."""
        return self.measure_phrase if self.is_agree_disagree else f"the {self.measure_phrase}"

    def rewrite_agreement_text_for_answers(self, text: str) -> str:
        """Rewrite a text about agreement for these answers; it must hold no names of models, items or studies.

        >>> text = "Mean agreement. + the model agrees with every item, - it disagrees."
        >>> AnswerPair("left", "right").rewrite_agreement_text_for_answers(text)
        'Mean share of “left”. + the model chooses “left” on every item, - it chooses “right”.'
        """
        if self.is_agree_disagree:
            return text
        return _REPLACED_WORD.sub(self._get_replacement_of_matched_agreement_word, text)

    def _get_replacement_of_matched_agreement_word(self, match: re.Match[str]) -> str:
        """Return what stands for a matched word about agreement, with the answer of this pair that it is about."""
        side, replacement = _REPLACEMENTS[match[0]]
        answer = (self.first, self.second)[side]
        return replacement.replace("{}", quote_answer(answer)).replace("[]", answer)

    def reword_agreement_as_answers_in_grid(self, table: Grid) -> Grid:
        """Rewrite the headers, meanings and units of a grid, and the names that its columns put into words."""
        columns = (
            replace(
                entry,
                header=self.rewrite_agreement_text_for_answers(entry.header),
                meaning=self.rewrite_agreement_text_for_answers(entry.meaning),
                unit=self.rewrite_agreement_text_for_answers(entry.unit),
            )
            for entry in table.columns
        )
        rows = (
            tuple(
                replace(cell, text=self.rewrite_agreement_text_for_answers(cell.text)) if entry.phrase_name else cell
                for entry, cell in zip(table.columns, row, strict=True)
            )
            for row in table.rows
        )
        return replace(table, columns=tuple(columns), rows=tuple(rows))


# Words of the catalogue: which of the two answers each is about (0 or 1), and what stands there for other answers,
# with the answer in quotation marks for {}, without for [].
_REPLACEMENTS = {
    "of agreement": (0, "of the share of {}"), "agreement": (0, "share of {}"), "Agreement": (0, "Share of {}"),
    "disagreement": (1, "{}"),
    "p(agree)": (0, "p([])"), "p(disagree)": (1, "p([])"),
    **{f"{verb}{ending}": (side, replacement) for side, verb in enumerate(AGREE)
       for ending, replacement in (("", "choose {}"), ("s", "chooses {}"), ("d", "chose {}"), ("ing", "choosing {}"))},
    **{f"{verb}{ending} with": (side, f"{replacement} {{}} on") for side, verb in enumerate(AGREE)
       for ending, replacement in (("", "choose"), ("s", "chooses"), ("d", "chose"))},
}  # fmt: skip
_REPLACED_WORD = re.compile(
    rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(_REPLACEMENTS, key=len, reverse=True)))})(?![\w-])"
)


def quote_answer(answer: str) -> str:
    """Write an answer in quotation marks; what stands for the answers of several studies has none."""
    return answer if answer in MIXED else f"“{answer}”"


def build_answer_pair_of_studies(info: Mapping[str, Any]) -> AnswerPair:
    """Return the two answers that all studies of some runs share (`Runs.info`)."""
    names = {tuple(fields["canonical"][:2]) for fields in info["studies"].values()}
    return AnswerPair(*(names.pop() if len(names) == 1 else MIXED))


def attach_answer_pair_of_studies_to_frame(frame: pd.DataFrame, info: Mapping[str, Any]) -> None:
    """Note in a frame the two answers that it is about, as texts: pandas writes what it carries to files as JSON."""
    answers = build_answer_pair_of_studies(info)
    frame.attrs[ATTRIBUTE] = [answers.first, answers.second]


def read_answer_pair_attached_to_frame(frame: pd.DataFrame) -> AnswerPair:
    """Return the answers that a frame is about: “agree” and “disagree” where it does not say."""
    return AnswerPair(*frame.attrs.get(ATTRIBUTE, AGREE))
