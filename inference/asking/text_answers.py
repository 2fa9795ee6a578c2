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
4.  A mention is *reported* if it is not the writer's position: somebody else is the subject of its clause ("some may
    agree", "one could agree", "do you agree?"), it is conceded ("while I agree that ..., I disagree") or imagined ("if
    I were human, I would agree"), an infinitive that commits to nothing ("it is easy to agree"), or agreement about
    the difficulty of the question ("I agree that this is a complex issue"). It counts for nothing.
5.  A mention is *open* if it is part of a question, follows "whether", "if", "how", "may", "could", "perhaps" in the
    same way, or is made to depend on something ("I would agree if ..."). Every other mention is *asserted*.
6.  For the labels agree and disagree, plain sentences that say the same without these words are asserted, too: "Yes, I
    think ...", "I support this", "That is wrong" (all of them stand in `stances`).
7.  The answer is the label asserted, if no other is asserted or open and the very same wording is not also denied.
    Two different labels, or none, make the text invalid (None).
8.  One exception: a text that names one label only to deny it, in the plain form "I do not agree" (do, did, would;
    not "cannot"; "really", "personally" and their like may stand in between), chooses the label that is its dis-,
    un-, in- or non- form, if there is one. "I don't think I agree" is of this form.

Rule 8 is how an annotator reads "I do not agree with this" under the options agree and disagree. The converse does not
hold ("I do not disagree" is no agreement), nor does it for hedged or graded forms ("not fully agree", "not strongly
agree"); "I cannot agree" is also how chat models decline to take a side; and what the denial of an unrelated label
means nobody can say. All these are invalid.

Negations are known for English, Japanese and Chinese; reported and open mentions and stances for English. A label of
one letter collides with the English article "a": import such answers as given answers, not as text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from inference.asking import stances

VERSION = 3  # of this rule, recorded with what it read (`text_rule`); texts without a record were read by version 1

# Scripts without spaces: Thai, Lao, Burmese, Khmer; Hangul; kana, Han, their punctuation and extensions.
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
_CHARACTER = rf"[^\W_{_SPACELESS}]"
_LETTER = rf"[^\W\d_{_SPACELESS}]"

_NEGATION = (
    r"not(?!\s+(?:only|just|merely|simply)\b)|\w*n't|cannot|cant|dont|wont|no|none|nobody|nothing|never|neither|nor"
    r"|hardly|barely|scarcely|rarely|without|unable|refus(?:e|es|ed|ing)|declin(?:e|es|ed|ing)|fail(?:s|ed)?"
    r"|avoid(?:s|ing)?|refrain(?:s|ing)?"
)
# "If I had to choose" is no condition, but the model's way to an answer.
_FORCED = (
    r"\s+(?:(?:i\s+)?(?:absolutely\s+|really\s+)?(?:forced|pressed|pushed|asked|required|made|must|compelled)"
    r"|i\s+(?:had|have|were|was|am)\s+(?:absolutely\s+|really\s+)?(?:forced|pressed|pushed|asked|required|made|compelled"
    r"|to\s+(?:choose|pick|select|answer|respond|say|decide|give|take|express|lean|make))"
    r"|you\s+(?:ask|insist|force|press|push))\b"
)
_CONDITION = (
    rf"if(?!{_FORCED})|unless|provided|assuming|suppos(?:e|ing)|(?:as|so)\s+long\s+as|when(?!\s+i\b)|otherwise|in\s+(?:that|such\s+an?)\s+case"
    r"|with\s+(?:more|better|enough)|(?:under|in)\s+(?:other|different|certain|some|another)"
)
_OPENING = rf"whether|if(?!{_FORCED})|before|until|should(?!\s+say)|(?:almost|nearly|always|often)(?=\s+$)|told|designed|programmed|trained|w(?:as|ere)\s+going\s+to|how|to\s+which|may|might|could|perhaps|maybe|possibly|unsure|undecided"
# Whose position it is where it is not the writer's.
_OTHERS = (
    r"one|you|they|he|she|anyone|everyone|everybody|someone|somebody|people|persons?|individuals?|others|experts?"
    r"|humans?|users?|citizens|voters|readers|respondents|author|public|society|majority|minority|those|who|some|many"
    r"|several|most(?!\s+(?:strongly|certainly|definitely|likely|appropriate|fitting|suitable|accurate|honest))|\w+(?:ists|ians|atives|als|ers|ents|ics)"
    r"|we\s+all|we\s+(?:can|could|should|must|need)|than|over(?=\s+$)|instead\s+of|such\s+as|for\s+example"
    r"|(?:a|an|the)(?=\s+\w+(?:\s+\w+){0,4}\s+(?:would|will|could|might|may|can|must|should)\s+$)"
    r"|(?:the|these|my|our|his|her|their)(?=(?:\s+\w+)?\s+(?!(?:is|was|says|means|reads|seems|remains)\b)\w+s\s+$)|please|press|click|\w+s\s+(?:that|which)(?=\s+$)"
)
_CONCEDING = r"while|whilst|although|though|despite|even\s+if"
# "To agree" is a position only after one of these.
_COMMITTED = (
    r"ha(?:ve|d)|got|inclined|tend|lean(?:ing)?|going|compelled|forced|obliged|happy|glad|choose|chose|need|is|goes"
    r"|closer|nearer|(?:fair|safe)(?=\s+to\s+say)|i(?:'d|\s+would|'m|\s+am)(?:\s+be)?\s+(?:more|most)\s+likely"
    r"|(?:leads?|led|causes?|brings?|inclines?|allow)\s+me"
)
# Words that open a new clause, and so end the reach of a negation: "I do not judge people but agree".
_NEW_CLAUSE = r"and|as|because|but|however|instead|since|so|still|therefore|though|although|yet"
# From such a word to its label: perhaps an aside in commas ("I do not, however, agree"), then up to six words.
# Words are matched possessively (++, *+): there is one way to cut a text into them, so no text takes long.
_REACH = rf"(?:,[^,.;:!?\n]{{1,40}},)?(?:[ \t('\-]++(?!(?:{_NEW_CLAUSE})\b){_LETTER}[\w'\-]*+){{0,6}}[ \t(']++$"
# The same, but not past the writer: "you know I agree".
_REACH_OF_OTHERS = _REACH.replace(_NEW_CLAUSE, rf"{_NEW_CLAUSE}|i|we|my")
_DENIED_BEFORE = re.compile(rf"(?<![\w'])(?:{_NEGATION}){_REACH}|[不非未]$")
_DENIED_AFTER = re.compile(r"[^\s。、,.!?「」]{0,12}?(?:ない|ません|かねる|かねます)")
_MILDLY = r"(?:\s+(?:really|personally|actually|simply|honestly|respectfully|just|at\s+all|in\s+any\s+way))?"
_PLAINLY_DENIED = re.compile(
    rf"(?:^|[.:;!?)\n]|\b(?:i|we){_MILDLY})\s*(?:do|did|would)(?:n't|\s+not){_MILDLY}"
    r"(?:\s+(?:think|believe|feel)(?:\s+that)?\s+(?:i|we)(?:\s+would)?)?\s+$"
)
_REPORTED_BEFORE = re.compile(
    rf"(?<![\w'])(?:{_OTHERS}){_REACH_OF_OTHERS}|(?<![\w'])(?:{_CONCEDING}){_REACH}"
    rf"|(?<![\w'])(?:if(?!{_FORCED})\s+i\s+(?:were|was)|(?:were|had)\s+(?:i|you)|depending|hypothetically|sometimes)\b[^.;:!?\n]*$"
    r"|(?<!\bi\s)(?<!\w)(?:said|says|replied|wrote)\s*[:,]?\s*(?:i\s+)?$"
    r"|(?<!only\s)\bdo\s+i(?=[^.:;!?\n]*$)|\bthan\s+i\s+$"
    r"|\bi\s+(?:know|met|asked|heard|respect)\b[^.,;:!?\n]*$"
    r"|\b(?:example|sample|typical|possible|instance|(?:could|might|may)\s+be)\b[^.;!?\n]{0,20}:\s*(?:i\s+)?$"
    r"|\b(?:doubt|imagine|assume|pretend|let's\s+say|(?:he|she|you|they|who|people)\s+(?:think|believe|know|assume|hope|say|want)s?)"
    r"\s+(?:that\s+)?(?:i\s+)?(?:would\s+)?$"
)
_TO = r"(?:\A|\s+)to(?:\s+(?:say|claim|state)(?:\s+that)?(?:\s+i)?)?(?:\s+\w+ly)?\s+$"
# Where "agree" is the writer's answer: the writer speaks, or it stands as an answer does, alone or as "answer: agree".
_COMMITS_BEFORE = re.compile(
    r"(?<![\w'])(?:inclination|preference|answers?|responses?|reply|replies|choices?|options?|verdict|conclusion|position"
    r"|stance|vote|opinion|view|rating|label|fit|selection|decision|judge?ment)(?![\w])[^.;!?\n]*$"
    r"|(?<![\w'])(?:i|we|me|myself)(?!\w)"
    r"(?:(?!\b(?:an?|people|many|most|others|users|they|he|she|you|them|anyone|someone)\b)[^.;!?\n])*$"
    rf"|(?:\A|[.:;!?,)>\[\]\n\-\u2013\u2014]|[{_SPACELESS}]|\b(?:and|but|so|because|therefore|thus|hence|then|ultimately|overall|still|yes|no|well)\b)"
    r"[\s'(>_\-]*(?:\d+[.):]?\s*|[a-d][.):]\s*)?(?:(?:\w+ly|very\s+much|do|would|must|have\s+to|somewhat|mostly)\s+)*$"
)
_INFINITIVE = re.compile(_TO)
_COMMITTED_TO = re.compile(rf"(?<!\w)(?:{_COMMITTED}){_TO}")
# What "agree" is followed by where it is no answer: "agree to (disagree)", which ends before the next mention; agreement
# with a sentence about the question ("that this is a complex issue") or with people ("with those who ..."); a verb of
# which the label is the subject ("agree would be a common answer"), unless the answer is the writer's.
_REPORTED_AFTER = re.compile(
    rf"\s{{1,3}}to\s{{1,3}}(?!(?:(?:an?|some|the)(?:\s+\w+){{0,2}}\s+(?:extent|degree|point|question|{stances.NOUNS})|this|that|it|your|indicate|meet|express|show|reflect)\b)|(?:\s+with\s+your?(?:\s+\w+)?)?,?[ \t]+(?:that|it|this|there|the)\b"
    rf"(?:{stances.ABOUT_THE_QUESTION}|[^.;:!?\n]{{0,40}}\bi\s+(?:should|must|can|do|am)\b)"
    r"|\s+on\s+(?:what|which|how|an?)\b|\s+with\s+(?:\w+\s+){0,2}(?:question|framing|request|sides|answers?|being)\b"
    r"|\s+with\s+(?:those|people|anyone|everyone|critics)\b|(?:\s+with\s+\w+)?[,.!]?\s+(?:said|says|replied|answered)\b"
    r"|(?:,?[ \t]+)(?:is|was|has|means|(?:would|could|might|may|can|will)\s+be)\b"
    r"(?![^.;!?\n]{0,60}\b(?:i|i'd|my|me|closer|closest|better|best|right|correct|appropriate)\b)"
)
# What "agree" may be followed by: the end of its clause, the statement, a reason, or how much. All else limits it.
_GOES_ON_WITH = re.compile(
    rf"[{_SPACELESS}]|[\s'_)\]]*(?:\Z|[.,;:!?()\[\]\n\-\u2013\u2014/])"
    r"|\s+(?:that|because|since|as|for|and|but|though|although|while|so(?!\s+long)|given|here|overall|fully|completely|strongly"
    r"|entirely|very|wholeheartedly|at\s+all|too|now|\d+|on\s+(?:this|that|it|balance|the\s+whole)|in\s+(?:general|full|this|principle)"
    r"|rather|over|more|than|even|however|is|would|option|category|camp|or|nor|it|it's|this|there|the|i|even)\b"
    r"|\s+with\W*\Z|\s+with\s+(?:all\s+my|what|this|that|it|you|your|him|her|them|me)\b"
    rf"|\s+with\s+(?:the|an?|its|their|such\s+an?)\s+(?:[\w-]+\s+){{0,2}}(?:{stances.NOUNS}|author|speaker|message)s?\b"
    rf"|\s+(?:on|to)\s+(?:(?:an?|some|the)(?:\s+\w+){{0,2}}\s+(?:extent|degree|point|question|{stances.NOUNS})|this|that|it|your|indicate|meet|express|show|reflect)\b"
)
_CHOICE_BEFORE = re.compile(r"\b(?:between|either|options,|choices,)\s+$")  # "between agree and disagree"
_OPEN_BEFORE = re.compile(
    rf"(?<![\w'])(?:{_OPENING}){_REACH}"
    rf"|(?:\A|[.,;:!?\n]|\bbut\b|\beven\b)\s*(?:{_CONDITION})\b[^.;:!?\n]*$"
    r"|\bon\s+(?:the\s+)?(?:one|other)\s+(?:hand|side)\b[^.;:!?\n]*$"
    r"|(?:\A|[.;!?\n])\s*(?:should|were|had)\b[^.;:!?\n]*$"
)
_OPEN_AFTER = re.compile(
    r"[^.;:!\n。?]*\?"
    r"|(?:\s+with\s+(?:this|that|it)(?:\s+\w+)?)?,?\s+(?:but\s+)?(?:only\s+)?(?:if|unless|provided|(?:as|so)\s+long\s+as|depending|were|except)\b"
    r"|\s*:\s*(?:if\s+(?:you|one|someone)|those\s+who|this\s+(?:option|choice|answer|response))\b"
    r"|[ \t]+when\b|[^.;:!?\n]{0,60}\bbut\s+not\s+(?:in|for|when|if)\b"
    r"|\s+(?:(?:with|to)\s+)?(?:some|parts?|certain|half|aspects)\b(?!\s+(?:extent|degree))"
    r"|\s+with\s+(?:one|two|three|several|(?:the|a)\s+(?:first|second|last|few|lot)|[^.,;:!?\n]{0,40}\bonly(?=[.,;!\n]|\Z))|\s+in\s+(?:principle|theory)\b[^.;:!?\n]*\bbut\b"
    r"|[^!?\n]{0,60}\b(?:i|we)\s+(?:do\s+not|don't|would\s+not|wouldn't)(?:\s+know)?\s{0,3}[.,;!\n]"
)
# "I couldn't agree more" is full agreement.
_EMPHATIC_BEFORE = re.compile(r"\bc(?:ould|an)(?:n't|\s*not)\s+$")
_EMPHATIC_AFTER = re.compile(r"(?:\s+with\s+\w+(?:\s+\w+)?)?\s+more\b")
_JOINED = re.compile(
    rf"\s*[,/、・もかやと]\s*|(?:でも|とも|または|又は|もしくは)"
    rf"|(?:(?!\b(?:{_NEW_CLAUSE})\b)[^.;:!?\n]){{0,40}}\bn?or\b[^.;:!?\n]{{0,20}}"
)
# "No" before a noun is no reply ("there is no doubt"), nor are "no, thank you" and "yes, I can help".
_NO_ALONE = r"(?!\s+(?!(?:as|and|because|but|here|i|if|in|is|it|or|over|rather|since|than|that|this|to|with|would)\b)\w)"
_NO_REPLY = (
    r"(?!(?:,|\.|!|\s-)\s+(?:thank|please|let|here|happy|i(?:'d|\s+would)\s+(?:rather|prefer)\s+not|i\s+(?:understand|see)\b"
    r"|i\s+(?:can(?:'t|not)?|could|will|won't|am\s+(?:not\s+)?(?:able|unable)\s+to)\s+(?:answer|say|choose|help|judge|decide|try|do)))"
)
# The same subject still: "people agree on the facts and disagree on the values".
_COORDINATED = re.compile(r"(?:(?!\b(?:i|i'd|we|my)\b)[^.;:!?\n]){0,80}\band\s+(?:\w+ly\s+)?")
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
    folded = _fold(text)
    mentions: dict[str, set[str]] = {state: set() for state in STATES}  # wordings
    chosen_by_denial: set[str] = set()  # labels
    state = ""
    for group, before, after in _groups(folded, grammar.pattern):
        wordings = {mention.wording for mention in group}
        # "People agree and disagree": both are what the first one is.
        state = state if state in ("reported", "open") and _COORDINATED.fullmatch(before) else _state(before, after, whose=bool(grammar.stances))
        if state != "asserted" and len({grammar.label[wording] for wording in wordings}) > 1:
            continue  # "whether I agree or disagree": a choice that is not made here
        mentions[state] |= wordings
        if state == "denied" and _PLAINLY_DENIED.search(before):
            chosen_by_denial |= {grammar.opposite[w] for w in wordings if w in grammar.opposite}
    of = {state: {grammar.label[wording] for wording in wordings} for state, wordings in mentions.items()}

    said: set[str] = set()  # labels, said in other words
    if grammar.stances:
        asks_about_disagreement = grammar.stances[stances.DISAGREE] in of["open"] | of["reported"]
        said = {grammar.stances[s] for s in stances.found(folded, replies=not asks_about_disagreement)}
    if mentions["asserted"] or said:
        positions = of["asserted"] | of["open"] | said
        contradicted = mentions["asserted"] & mentions["denied"] or said & of["denied"]
        return positions.pop() if len(positions) == 1 and not contradicted else None
    if len(chosen_by_denial) == 1 and len(of["denied"] | of["open"]) == 1:
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


def _state(before: str, after: str, *, whose: bool) -> str:
    """Decide from the words around a group of mentions: is it "asserted", "denied", "reported" or "open"?

    If `whose`, a mention is asserted only where it is seen to be the writer's.
    """
    if _EMPHATIC_BEFORE.search(before) and _EMPHATIC_AFTER.match(after):
        return "asserted"
    if _CHOICE_BEFORE.search(before):
        return "reported"
    if _DENIED_BEFORE.search(before) or _DENIED_AFTER.match(after):
        return "denied"
    if _REPORTED_BEFORE.search(before) or _REPORTED_AFTER.match(after):
        return "reported"
    if _INFINITIVE.search(before) and not _COMMITTED_TO.search(before):
        return "reported"
    if _OPEN_BEFORE.search(before) or _OPEN_AFTER.match(after):
        return "open"
    if whose and not _GOES_ON_WITH.match(after):
        return "open"
    return "asserted" if _COMMITS_BEFORE.search(before) or not whose else "reported"


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
    pattern = re.compile(rf"(?=[{first}])(?:{'|'.join(map(_bounded, longest_first))})")
    of_stance = {stance: label[stance] for stance in (stances.AGREE, stances.DISAGREE) if stance in label}
    return _Grammar(pattern, label, opposite, of_stance if len(set(of_stance.values())) == 2 else {})


def _bounded(wording: str) -> str:
    """Make the pattern of a folded wording; "(dis)agree" and "agree-disagree" must not match: they name two labels."""
    body = r"[\s_\-]+".join(map(re.escape, wording.split(" ")))
    if re.match(_CHARACTER, wording):
        body = rf"(?<!{_CHARACTER})(?<!{_LETTER}-)(?<!{_LETTER}{{2}}\)){body}"
    if re.search(rf"{_CHARACTER}$", wording):
        body = rf"{body}(?!-?{_CHARACTER})"
    if wording == "no":
        body += _NO_ALONE
    if wording in ("yes", "no"):
        body = rf"(?<!\ba )(?<!\boh ){body}{_NO_REPLY}"
    return body


def _spaced(folded: str) -> str:
    """Replace spaces, hyphens and underscores by one space each, none at the ends."""
    return " ".join(filter(None, re.split(r"[\s_\-]+", folded)))


def _fold(text: str) -> str:
    """Fold case and Unicode (NFKC), straighten apostrophes, and remove emphasis marks and double quotes."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return folded.replace("\u2019", "'").replace("\u2018", "'").translate(_DROPPED)
