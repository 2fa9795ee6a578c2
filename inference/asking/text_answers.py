"""Find the option that a generated text chooses, by a rule short enough for a methods section.

1.  Text and labels are compared case-folded and Unicode-normalised, without markdown emphasis and double quotes. A
    label stands between word boundaries; next to a character of a script without spaces (Chinese, Japanese, Korean,
    Thai ...) no boundary is needed. Spaces, hyphens and underscores inside a label are equal.
2.  The longest label is found first and each stretch of text counts once: "strongly agree" is not also "agree", and
    "disagree" never is.
3.  A mention is *denied* if a negation stands before it in the same clause, at most six words away ("don't agree",
    "unable to agree"), or a Japanese one after it ("賛成できません"). Mentions joined by "or", "nor", a comma or a
    slash share the denial. If they are different labels ("neither agree nor disagree", "I cannot agree or
    disagree"), the text declines to choose there; this neither gives an answer nor cancels one given elsewhere.
4.  A mention is *open* if it is part of a question, follows "whether", "if", "how", "to which", "may" or "might" in
    the same way, or tells what other people think ("some agree"). Every other mention is *asserted*.
5.  The answer is the label asserted, if no other is asserted or open and the very same wording is not also denied.
    Two different labels, or none, make the text invalid (None).
6.  One exception: a text that names one label only to deny it, in the plain form "I do not agree" (do, did, would;
    not "cannot", no word between), chooses the label that is its dis-, un-, in- or non- form, if there is one.

Rule 6 is how an annotator reads "I do not agree with this" under the options agree and disagree. The converse does not
hold ("I do not disagree" is no agreement), nor does it for hedged or graded forms ("not fully agree", "not strongly
agree"); "I cannot agree" is also how chat models decline to take a side; and what the denial of an unrelated label
means nobody can say. All these are invalid.

Negations are known for English, Japanese and Chinese. A label of one letter collides with the English article "a":
import such answers as given answers, not as text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

# Scripts without spaces: Thai, Lao, Burmese, Khmer; Hangul; kana, Han, their punctuation and extensions.
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
_CHARACTER = rf"[^\W_{_SPACELESS}]"
_LETTER = rf"[^\W\d_{_SPACELESS}]"

_NEGATION = (
    r"not(?!\s+(?:only|just|merely|simply)\b)|\w*n't|cannot|cant|dont|wont|no|none|nobody|nothing|never|neither|nor"
    r"|hardly|without|unable|refus(?:e|es|ed|ing)|declin(?:e|es|ed|ing)"
)
_OPENING = r"whether|if|how|to\s+which|may|might|some|someone|many|people|individuals|others|experts"
# Words that open a new clause, and so end the reach of a negation: "I do not judge people but agree".
_NEW_CLAUSE = r"and|as|because|but|however|instead|since|so|still|therefore|though|although|yet"
# From such a word to its label: perhaps an aside in commas ("I do not, however, agree"), then up to six words.
# Words are matched possessively (++, *+): there is one way to cut a text into them, so no text takes long.
_REACH = rf"(?:,[^,.;:!?\n]{{1,40}},)?(?:[ \t('\-]++(?!(?:{_NEW_CLAUSE})\b){_LETTER}[\w'\-]*+){{0,6}}[ \t(']++$"
_DENIED_BEFORE = re.compile(rf"(?<![\w'])(?:{_NEGATION}){_REACH}|[不非未]$")
_DENIED_AFTER = re.compile(r"[^\s。、,.!?「」]{0,12}?(?:ない|ません|かねる|かねます)")
_PLAINLY_DENIED = re.compile(r"(?:^|[.:;!?)\n]|\b(?:i|we))\s*(?:do|did|would)(?:n't|\s+not)\s+$")
_OPEN_BEFORE = re.compile(rf"(?<![\w'])(?:{_OPENING}){_REACH}")
_OPEN_AFTER = re.compile(r"[^.;:!\n。?]*\?")
# "I couldn't agree more" is full agreement.
_EMPHATIC_BEFORE = re.compile(r"\bc(?:ould|an)(?:n't|\s*not)\s+$")
_EMPHATIC_AFTER = re.compile(r"(?:\s+with\s+\w+(?:\s+\w+)?)?\s+more\b")
_JOINED = re.compile(
    rf"\s*[,/、・もかやと]\s*|(?:でも|とも|または|又は|もしくは)"
    rf"|(?:(?!\b(?:{_NEW_CLAUSE})\b)[^.;:!?\n]){{0,40}}\bn?or\b[^.;:!?\n]{{0,20}}"
)
_OPPOSITE_PREFIXES = ("dis", "un", "in", "im", "non", "non ")
_WINDOW = 120  # characters before a mention in which its negation is looked for
_DROPPED = {ord(mark): None for mark in '*`"\u201c\u201d\u201e\u00ab\u00bb'}


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The labels of one study, ready for searching."""

    pattern: re.Pattern[str]
    label: Mapping[str, str]  # folded wording -> label
    opposite: Mapping[str, str]  # folded wording -> label that is its dis-, un-, in- or non- form


@dataclass(frozen=True, slots=True)
class _Mention:
    wording: str
    start: int
    end: int


def parse(text: str, labels: Mapping[str, Sequence[str]]) -> str | None:
    """Find the label that ``text`` chooses; None if it is not a valid answer (the rule: see the module).

    Parameters
    ----------
    text
        A model's free-text answer.
    labels
        label -> the wordings that mean it, for example ``{"agree": ["strongly agree", "agree"], ...}``.

    Raises
    ------
    ValueError
        A wording is empty, or belongs to two labels.

    Examples
    --------
    >>> labels = {"agree": ["strongly agree", "agree"], "disagree": ["strongly disagree", "disagree"]}
    >>> parse("**2) Disagree.** I strongly disagree with that.", labels)
    'disagree'
    >>> parse("I can neither agree nor disagree.", labels) is None
    True
    """
    grammar = _grammar(tuple((label, tuple(wordings)) for label, wordings in labels.items()))
    asserted: set[str] = set()  # these three hold wordings
    opened: set[str] = set()
    denied: set[str] = set()
    chosen_by_denial: set[str] = set()
    for group, before, after in _groups(_fold(text), grammar.pattern):
        wordings = {mention.wording for mention in group}
        state = _state(before, after)
        if state == "asserted":
            asserted |= wordings
        elif state == "open":
            opened |= wordings
        elif len({grammar.label[wording] for wording in wordings}) == 1:
            denied |= wordings
            if _PLAINLY_DENIED.search(before):
                chosen_by_denial |= {grammar.opposite[w] for w in wordings if w in grammar.opposite}
    mentioned = {grammar.label[wording] for wording in asserted | opened}
    if asserted:
        return mentioned.pop() if len(mentioned) == 1 and not asserted & denied else None
    if len(chosen_by_denial) == 1 and len({grammar.label[w] for w in denied} | mentioned) == 1:
        return chosen_by_denial.pop()
    return None


def _groups(folded: str, pattern: re.Pattern[str]) -> Iterator[tuple[list[_Mention], str, str]]:
    """Group mentions that are joined ("agree or disagree"), each group with the text before and after it."""
    groups: list[list[_Mention]] = []
    for found in pattern.finditer(folded):
        mention = _Mention(_spaced(found.group()), found.start(), found.end())
        if groups and _JOINED.fullmatch(folded, groups[-1][-1].end, mention.start):
            groups[-1].append(mention)
        else:
            groups.append([mention])
    for i, group in enumerate(groups):
        # What stands around one group never reaches past the next: "反対なので賛成できない" does not deny 反対.
        floor = groups[i - 1][-1].end if i else 0
        ceiling = groups[i + 1][0].start if i + 1 < len(groups) else len(folded)
        yield group, folded[max(floor, group[0].start - _WINDOW) : group[0].start], folded[group[-1].end : ceiling]


def _state(before: str, after: str) -> str:
    """Decide from the words around a group of mentions whether it is "asserted", "denied" or "open"."""
    if _EMPHATIC_BEFORE.search(before) and _EMPHATIC_AFTER.match(after):
        return "asserted"
    if _DENIED_BEFORE.search(before) or _DENIED_AFTER.match(after):
        return "denied"
    if _OPEN_BEFORE.search(before) or _OPEN_AFTER.match(after):
        return "open"
    return "asserted"


@lru_cache(maxsize=64)
def _grammar(labels: tuple[tuple[str, tuple[str, ...]], ...]) -> _Grammar:
    label: dict[str, str] = {}
    for name, wordings in labels:
        for wording in wordings:
            folded = _spaced(_fold(wording))
            if not folded:
                raise ValueError(f"an empty wording is given for the label '{name}'")
            if label.setdefault(folded, name) != name:
                raise ValueError(f"the wording '{wording}' is given for two labels, '{label[folded]}' and '{name}'")
    opposite = {
        wording: label[prefix + wording]
        for wording in label
        for prefix in _OPPOSITE_PREFIXES
        if label.get(prefix + wording, label[wording]) != label[wording]
    }
    longest_first = sorted(label, key=lambda wording: (-len(wording), wording))
    # The lookahead only saves time: at most positions one character is enough to see that no label begins.
    first = "".join(sorted({re.escape(wording[0]) for wording in label}))
    return _Grammar(re.compile(rf"(?=[{first}])(?:{'|'.join(map(_bounded, longest_first))})"), label, opposite)


def _bounded(wording: str) -> str:
    """Make the pattern of a folded wording; "(dis)agree" and "agree-disagree" must not match: they name two labels."""
    body = r"[\s_\-]+".join(map(re.escape, wording.split(" ")))
    if re.match(_CHARACTER, wording):
        body = rf"(?<!{_CHARACTER})(?<!{_LETTER}-)(?<!{_LETTER}{{2}}\)){body}"
    if re.search(rf"{_CHARACTER}$", wording):
        body = rf"{body}(?!-?{_CHARACTER})"
    return body


def _spaced(folded: str) -> str:
    """Replace spaces, hyphens and underscores by one space each, none at the ends."""
    return " ".join(filter(None, re.split(r"[\s_\-]+", folded)))


def _fold(text: str) -> str:
    """Fold case and Unicode (NFKC), straighten apostrophes, and remove emphasis marks and double quotes."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return folded.replace("\u2019", "'").replace("\u2018", "'").translate(_DROPPED)
