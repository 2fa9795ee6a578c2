"""Find the paraphrases in what a model wrote: remove list markers, quotes and chatter, recognise refusals.

Models are asked for one paraphrase per line, and answer with numbers, bullets, headings, good wishes, or a refusal.
The rules, in order:

1. Reasoning up to a closing `</think>` is not part of the answer.
2. Every line loses its list marker ("3.", "(3)", "-", "③", "Version 3:"), its emphasis and the quotes around it.
3. If at least two lines had a number (or, without numbers, a bullet), the list is those lines; the others are chatter.
   Otherwise a line is chatter where it ends with a colon or begins like one of the phrases in `phrases.yaml`.
4. A line that begins like a refusal is one. Where no list was given and one of the first two lines refuses, all lines
   belong to the refusal.
5. A last line without a full stop, where most lines before it have one, was cut off by the limit on tokens.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import yaml

CHATTER, REFUSAL, CUT_OFF, EMPTY = "chatter", "refusal", "cut off", "empty"
LABEL = "label"
PHRASES = Path(__file__).parent / "phrases.yaml"

_THOUGHT = re.compile(r"^.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_THINKING = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
# A number that is a marker and not part of the sentence: "3. Tea", "３．茶", "3) Tea", "(3) Tea", "[3] Tea", "3: Tea",
# "3 - Tea", "#3 Tea", a tab after it; but not "3.5 million", "10:30", "3-year-old" or "2024: ...".
_NUMBER = re.compile(
    r"(?:[(\[（【]\d{1,3}[)\]）】][.:：]?|\#\d{1,3}[.:)：]?(?=\s)|\d{1,3}(?:[.:](?!\d)|[)\]）】．：、。]|\s+[-–—](?=\s)|(?=\t))\)?"
    r"|[①-⑳㉑-㉟❶-❿➀-➓])\s*"
)
_LETTER = re.compile(r"(?:\([a-z]\)|[a-z]\))\s+", re.IGNORECASE)
_BULLET = re.compile(r"(?:[-–—*+•‣◦▪●○・>]|\\-)(?:\s+|(?<=[•‣◦▪●○・]))")
_EMPHASIS = re.compile(r"(\*\*|__|\*|_|`)(.+)\1")
_OPENING_EMPHASIS = re.compile(r"(\*\*|__)(?=(?:\W?\d|[^*_]{1,30}\d{1,3}\W{0,2}\1))")
# "**Formal:** Tea is good."
_STYLE = re.compile(r"^\*\*[^*]{1,40}(?:[:：]\*\*|\*\*[:：])\s*(?=\S)")
_QUOTES = {'"': '"', "“": "”", "”": "”", "„": "“", "«": "»", "‘": "’", "'": "'", "「": "」", "『": "』", "＂": "＂"}
_FENCE = re.compile(r"(?:`{3,}|~{3,})\w*|[\[\]{}(),]+")
_ENDS = ".!?。！？．…」』”\"')）"


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """One line of an answer: its text, and why it is no paraphrase (None: it may be one)."""

    text: str
    reason: str | None = None


def split_answer_into_judged_lines(output: str) -> list[AnswerLine]:
    """Split one answer into its lines, without blank ones, and judge each.

    Parameters
    ----------
    output
        What the model generated for one call.

    Returns
    -------
    list of AnswerLine
        In order; `reason` is None, "empty" (punctuation only), "chatter", "refusal" or "cut off". An answer of nothing
        gives one line with the reason "empty".
    """
    marked_lines = [_split_line_into_text_and_marker_kind(raw) for raw in _strip_reasoning(output).splitlines()]
    marked_texts = [(text, marker) for text, marker in marked_lines if text]
    if not marked_texts:
        return [AnswerLine("", EMPTY)]
    markers = [marker for text, marker in marked_texts if not _ends_with_colon(text)]
    list_kind = next((kind for kind in ("number", "bullet") if markers.count(kind) > 1), None)
    if list_kind is None and any(_begins_with_phrase_of_kind(text, REFUSAL) for text, _ in marked_texts[:2]):
        return [AnswerLine(text, REFUSAL) for text, _ in marked_texts]
    judged_lines = [
        AnswerLine(text, _explain_why_line_is_no_paraphrase(text, marker, list_kind)) for text, marker in marked_texts
    ]
    return _mark_last_line_lacking_full_stop(judged_lines)


class _KeptCharacters(dict[int, int | None]):
    """What `str.translate` makes of a character: itself, or nothing of white space, punctuation and controls."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code))[0] in "PZC" else code
        return self[code]


_KEPT_CHARACTERS = _KeptCharacters()


def normalise_wording(text: str) -> str:
    """Remove case, white space and punctuation from a wording; wordings with equal results are the same."""
    folded_text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return folded_text.translate(_KEPT_CHARACTERS)


def _strip_reasoning(output: str) -> str:
    """Remove the reasoning from an output; one that never stopped reasoning has no answer."""
    answer = _THOUGHT.sub("", output).replace("\0", "")  # an untrained model may write it; no file of items takes it
    return "" if _THINKING.match(answer) else answer


def _split_line_into_text_and_marker_kind(raw: str) -> tuple[str, str | None]:
    """Remove marker, emphasis and quotes from a line; tell whether the marker was a "number" or a "bullet"."""
    text, marker = raw.strip(), None
    if _FENCE.fullmatch(text):
        return "", None
    before = None
    while text != before:  # "- **3.** “Tea is good.”" has several layers
        before = text
        text = _OPENING_EMPHASIS.sub("", text, count=1) if _OPENING_EMPHASIS.match(text) else text
        for kind, pattern in (
            ("number", _NUMBER),
            ("number", _compile_phrase_patterns()[LABEL]),
            ("number", _LETTER),
            ("bullet", _BULLET),
        ):
            match = pattern.match(text)
            if match:
                text = text[match.end() :].strip()
                marker = "number" if "number" in (kind, marker) else kind
        text = _strip_emphasis_and_quotes(_strip_half_emphasis(_STYLE.sub("", text)))
    return text, marker


def _strip_half_emphasis(text: str) -> str:
    """Remove half an emphasis whose other half was removed with the number: "**3.** Tea", "**3. Tea**"."""
    for mark in ("**", "__"):
        if text.count(mark) % 2:
            text = text.removeprefix(mark).removesuffix(mark).strip()
    return text


def _strip_emphasis_and_quotes(text: str) -> str:
    """Remove emphasis, and quotes around the whole line (a comma after them is JSON's)."""
    match = _EMPHASIS.fullmatch(text)
    if match and match[1] not in match[2]:
        text = match[2].strip()
    inner = text.rstrip(",;") if text[-1:] in ",;" and text.rstrip(",;")[-1:] in _QUOTES.values() else text
    if len(inner) > 1 and _QUOTES.get(inner[0]) == inner[-1] and not {inner[0], inner[-1]} & set(inner[1:-1]):
        return inner[1:-1].strip()
    return text


def _explain_why_line_is_no_paraphrase(text: str, marker: str | None, list_kind: str | None) -> str | None:
    """Return why a line is no paraphrase; None where it may be one."""
    if not normalise_wording(text):
        return EMPTY
    if _begins_with_phrase_of_kind(text, REFUSAL):
        return REFUSAL
    if list_kind is not None:
        return None if marker == list_kind and not _ends_with_colon(text) else CHATTER
    return CHATTER if _ends_with_colon(text) or _begins_with_phrase_of_kind(text, CHATTER) else None


def _ends_with_colon(text: str) -> bool:
    """Tell whether a line ends with a colon."""
    return text.endswith((":", "："))


def _mark_last_line_lacking_full_stop(judged_lines: list[AnswerLine]) -> list[AnswerLine]:
    """Mark the last line as cut off if it has no full stop and most other lines have one."""
    candidates = [line for line in judged_lines if line.reason is None]
    if len(candidates) > 1 and judged_lines[-1].reason is None and candidates[-1].text[-1] not in _ENDS:
        n_ended = sum(line.text[-1] in _ENDS for line in candidates[:-1])
        if 2 * n_ended > len(candidates) - 1:
            return [*judged_lines[:-1], AnswerLine(judged_lines[-1].text, CUT_OFF)]
    return judged_lines


def _begins_with_phrase_of_kind(text: str, kind: str) -> bool:
    """Tell whether a text begins with one of the phrases of a kind."""
    return _compile_phrase_patterns()[kind].match(text.replace("’", "'")) is not None


@functools.cache
def _compile_phrase_patterns() -> dict[str, re.Pattern[str]]:
    """Compile the phrases of the data file by kind: "chatter", "refusal", and "label" with its number or colon."""
    content = yaml.safe_load(PHRASES.read_text(encoding="utf-8"))
    any_of = {kind: f"(?:{'|'.join(filter(None, lines.splitlines()))})" for kind, lines in content.items()}
    patterns = {
        CHATTER: any_of["chatter"],
        REFUSAL: f"(?:{any_of['refusal']}|{any_of['unwilling']} {any_of['deed']})",
        LABEL: any_of["label"] + r"\s*(?:no\.?|#)?\s*(?:\d{1,3}\s*[.:)\]：．、）\-–—]|[:：])\**\s*",
    }
    return {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in patterns.items()}
