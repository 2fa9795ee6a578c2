"""Find the option that a generated text chooses, by a rule short enough for a methods section.

1.  Text and labels are compared case-folded and Unicode-normalised, without markdown emphasis and double quotes. A
    label stands between word boundaries; next to a character of a script without spaces (Chinese, Japanese, Thai
    ...) no boundary is needed. But は before い is mostly a particle ("答えはいいえ"), so はい begins a clause, or
    follows は ("答えははい"); and a label in katakana is no part of a longer word ("ハイキング"). A Korean label begins
    a word ("불찬성"), which may go on ("찬성합니다"); one of one syllable only as an answer ("예입니다", not
    "예술"). Spaces, hyphens and underscores inside a label are equal.
2.  The longest label is found first and each stretch of text counts once: "strongly agree" is not also "agree", and
    "disagree" never is.
3.  A mention is *denied* if a negation stands before it in the same clause, at most six words away ("don't agree",
    "unable to agree"), a Chinese one right before it ("不太同意", "没有理由反对"), or a Japanese or Korean one after it
    ("賛成できません", "찬성하지 않습니다"). A German one may have "dass" or "ob" behind its comma.
    Negations that affirm ("no doubt", "sans aucun doute", "non posso che", "賛成せざるを得ない") deny nothing.
    Mentions joined by "or", "nor", a comma or a slash share the denial. If they are different labels ("neither agree
    nor disagree", "I cannot agree or disagree"), the text declines to choose there; this neither gives an answer nor
    cancels one given elsewhere.
4.  A mention is *reported* if it is not the writer's position: somebody else is the subject of its clause ("some may
    agree", "do you agree?"), it is conceded ("while I agree that ..., I disagree") or imagined ("if I were human"), an
    infinitive that commits to nothing ("it is easy to agree"), what the other is compared with ("rather than agree"),
    one of the options named ("between agree and disagree"), or agreement about the question ("I agree that this is a
    complex issue"). It counts for nothing.
5.  A mention is *open* if it is part of a question, follows "whether", "if", "before", "may", "should", "perhaps" in
    the same way, is made to depend on something ("I would agree if ...", "as long as ..., I agree") or limited to a
    part ("with some parts"). "If I had to choose, I would agree" is no condition. Every other mention is *asserted*;
    in studies of agree and disagree only where the writer speaks or it stands as an answer does ("Answer: agree"), and
    where its clause ends, names the statement or gives a reason.
6.  For the labels agree and disagree, plain sentences that say the same without these words are asserted, too: "Yes, I
    think ...", "I lean toward agreeing", "That is wrong" (all stand in `stances`); after a refusal only from a word
    that turns from it ("but", "still", "if I had to choose").
7.  The answer is the label asserted, if no other is asserted or open and the very same wording is not also denied.
    Two different labels, or none, make the text invalid (None).
8.  One exception: a text that names one label only to deny it, in the plain form "I do not agree" (do, did, would;
    not "cannot"; "really", "personally" and their like may stand in between), chooses the label that is its dis-,
    un-, in- or non- form, if there is one. "I don't think I agree" is of this form.

With more than two labels, as on a scale from "strongly disagree" to "strongly agree", rules 6 and 8 choose none:
neither "yes" nor "I do not agree" says how far.

Rule 8 is how an annotator reads "I do not agree with this" under the options agree and disagree. The converse does not
hold ("I do not disagree" is no agreement), nor does it for hedged or graded forms ("not fully agree", "not strongly
agree"); "I cannot agree" is also how chat models decline to take a side; and what the denial of an unrelated label
means nobody can say. All these are invalid.

"No" before a noun ("no opinion") is no label, nor "yes" or "no" before an offer or thanks, the German "ja" between two
words ("das ist ja falsch") and the French "non" of "non seulement". What surrounds a mention stands in `mentions`.
Negations are known in the languages of Waver's prompts and Korean; reported and open mentions and stances in English. A
label of one letter collides with the English article "a": import such answers as given answers, not as text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from inference.asking import stances
from inference.asking.mentions import (
    CHARACTER,
    COORDINATED,
    HANGUL,
    JAPANESE_LETTERS,
    JOINED,
    KATAKANA,
    LETTER,
    NO_ALONE,
    NO_REPLY,
    classify_mention_by_surrounding_words,
    is_plainly_denied,
)

# Of this rule, recorded with what it read (`text_rule`); texts without a record were read by version 1. By version 3,
# はい was found in "答えはいいえ" and in other words, "ja" in "das ist ja falsch"; "不太同意" was agreement, and
# "je ne suis pas du tout d'accord", too.
VERSION = 4

_OPPOSITE_PREFIXES = ("dis", "un", "in", "im", "non", "non ")
STATES = ("asserted", "denied", "reported", "open")
_WINDOW = 120  # characters before a mention in which its negation is looked for
_DROPPED = {ord(mark): None for mark in '*`"\u201c\u201d\u201e\u00ab\u00bb'}


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The labels of one study, ready for searching."""

    pattern: re.Pattern[str]
    label: Mapping[str, str]  # folded wording -> label
    opposite: Mapping[str, str]  # folded wording -> label that is its dis-, un-, in- or non- form
    stances: Mapping[str, str]  # "agree" and "disagree" -> the two labels that have these wordings; else empty
    needs_own_view: bool  # whether "agree" and "disagree" are among the wordings


@dataclass(frozen=True, slots=True)
class _Mention:
    wording: str
    start: int
    end: int


def parse_answer(text: str, wordings_by_label: Mapping[str, Sequence[str]]) -> str | None:
    """Find the label that a text chooses (the rule: see the module).

    Parameters
    ----------
    text
        A model's free-text answer.
    wordings_by_label
        label -> the wordings that mean it, for example ``{"agree": ["strongly agree", "agree"], ...}``.

    Returns
    -------
    The label; None if the text is not a valid answer.

    Raises
    ------
    ValueError
        A wording is empty, or belongs to two labels.

    Examples
    --------
    >>> labels = {"agree": ["strongly agree", "agree"], "disagree": ["strongly disagree", "disagree"]}
    >>> parse_answer("**2) Disagree.** I strongly disagree with that.", labels)
    'disagree'
    >>> parse_answer("I can neither agree nor disagree.", labels) is None
    True
    """
    grammar = _build_label_grammar(tuple((label, tuple(wordings)) for label, wordings in wordings_by_label.items()))
    folded = _normalise_text_for_answer_matching(text)
    mentions: dict[str, set[str]] = {state: set() for state in STATES}  # wordings
    chosen_by_denial: set[str] = set()  # labels
    state = ""
    for group, before, after in _find_joined_mentions_with_context(folded, grammar.pattern):
        wordings = {mention.wording for mention in group}
        # "People agree and disagree": both are what the first one is.
        state = (
            state
            if state in ("reported", "open") and COORDINATED.fullmatch(before)
            else classify_mention_by_surrounding_words(before, after, must_be_writers_own_view=grammar.needs_own_view)
        )
        if state != "asserted" and len({grammar.label[wording] for wording in wordings}) > 1:
            continue  # "whether I agree or disagree": a choice that is not made here
        mentions[state] |= wordings
        if state == "denied" and is_plainly_denied(before):
            chosen_by_denial |= {grammar.opposite[w] for w in wordings if w in grammar.opposite}
    labels_by_state = {state: {grammar.label[wording] for wording in wordings} for state, wordings in mentions.items()}

    stance_labels: set[str] = set()  # labels, said in other words
    if grammar.stances:
        asks_about_disagreement = (
            grammar.stances[stances.DISAGREE] in labels_by_state["open"] | labels_by_state["reported"]
        )
        stance_labels = {
            grammar.stances[s]
            for s in stances.find_stances_said_in_other_words(
                folded, accepts_yes_no_replies=not asks_about_disagreement
            )
        }
    if mentions["asserted"] or stance_labels:
        positions = labels_by_state["asserted"] | labels_by_state["open"] | stance_labels
        contradicted = mentions["asserted"] & mentions["denied"] or stance_labels & labels_by_state["denied"]
        return positions.pop() if len(positions) == 1 and not contradicted else None
    if len(chosen_by_denial) == 1 and len(labels_by_state["denied"] | labels_by_state["open"]) == 1:
        return chosen_by_denial.pop()
    return None


def _find_joined_mentions_with_context(
    folded: str, pattern: re.Pattern[str]
) -> Iterator[tuple[list[_Mention], str, str]]:
    """Group mentions that are joined ("agree or disagree"), each group with the text before and after it."""
    groups: list[list[_Mention]] = []
    for match in pattern.finditer(folded):
        mention = _Mention(_unify_word_separators(match.group()), match.start(), match.end())
        if groups and JOINED.fullmatch(folded, groups[-1][-1].end, mention.start):
            groups[-1].append(mention)
        else:
            groups.append([mention])
    for i, group in enumerate(groups):
        # What stands around one group never reaches past the next: "反対なので賛成できない" does not deny 反対.
        floor = groups[i - 1][-1].end if i else 0
        ceiling = groups[i + 1][0].start if i + 1 < len(groups) else len(folded)
        yield group, folded[max(floor, group[0].start - _WINDOW) : group[0].start], folded[group[-1].end : ceiling]


@lru_cache(maxsize=64)
def _build_label_grammar(label_wordings: tuple[tuple[str, tuple[str, ...]], ...]) -> _Grammar:
    """Build the search pattern of the labels' wordings, and which labels are opposites."""
    label: dict[str, str] = {}
    for name, wordings in label_wordings:
        for wording in wordings:
            folded = _unify_word_separators(_normalise_text_for_answer_matching(wording))
            if not folded:
                raise ValueError(f"an empty wording is given for the label '{name}'")
            if label.setdefault(folded, name) != name:
                raise ValueError(f"the wording '{wording}' is given for two labels, '{label[folded]}' and '{name}'")
    is_graded = len(set(label.values())) > 2  # then "yes", or "I do not agree", says not how far
    opposite = {
        wording: label[prefix + wording]
        for wording in label
        for prefix in _OPPOSITE_PREFIXES
        if not is_graded and label.get(prefix + wording, label[wording]) != label[wording]
    }
    longest_first = sorted(label, key=lambda wording: (-len(wording), wording))
    # The lookahead only saves time: at most positions one character is enough to see that no label begins.
    first = "".join(sorted({re.escape(wording[0]) for wording in label}))
    pattern = re.compile(rf"(?=[{first}])(?:{'|'.join(map(_build_regex_text_of_wording, longest_first))})")
    of_stance = {stance: label[stance] for stance in (stances.AGREE, stances.DISAGREE) if stance in label}
    is_agreement = len(set(of_stance.values())) == 2
    return _Grammar(pattern, label, opposite, of_stance if is_agreement and not is_graded else {}, is_agreement)


def _build_regex_text_of_wording(wording: str) -> str:
    """Make the pattern of a folded wording; "(dis)agree" and "agree-disagree" must not match: they name two labels."""
    body = r"[\s_\-]+".join(map(re.escape, wording.split(" ")))
    if re.match(CHARACTER, wording):
        body = rf"(?<!{CHARACTER})(?<!{LETTER}-)(?<!{LETTER}{{2}}\)){body}"
    if re.search(rf"{CHARACTER}$", wording):
        body = rf"{body}(?!-?{CHARACTER})"
    if wording == "はい":
        body = rf"(?:(?<![{JAPANESE_LETTERS}])|(?<=は)){body}"
    elif re.fullmatch(rf"[{KATAKANA}]+", wording):
        body = rf"(?<![{KATAKANA}]){body}(?![{KATAKANA}])"
    elif re.match(rf"[{HANGUL}]", wording):
        end_of_syllable = rf"(?=입니|이[다에고며지]|예요|이?라(?:고|\s)|이\s(?:아[니닙닌]|맞)|인\s|[^{HANGUL}]|\Z)"
        body = rf"(?<![{HANGUL}]){body}{end_of_syllable if len(wording) == 1 else ''}"
    if wording == "no":
        body += NO_ALONE
    if wording == "non":
        body += r"(?!\s+(?:seulement|pas|plus)\b)"
    if wording == "ja":
        goes_on = r"\s+(?!(?:sagen|antworten|und|oder|noch\s+ne(?:e|in)|zeggen|en|of)\b)\w"
        body = rf"(?:(?<!\w\s){body}|{body}(?!{goes_on}))"
    if wording in ("yes", "no"):
        body = rf"(?<!\ba )(?<!\boh ){body}(?:(?<=or {wording})|{NO_REPLY})"
    return body


def _unify_word_separators(folded: str) -> str:
    """Replace spaces, hyphens and underscores by one space each, none at the ends."""
    return " ".join(filter(None, re.split(r"[\s_\-]+", folded)))


def _normalise_text_for_answer_matching(text: str) -> str:
    """Fold case and Unicode (NFKC), straighten apostrophes, and remove emphasis marks and double quotes."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return folded.replace("\u2019", "'").replace("\u2018", "'").translate(_DROPPED)
