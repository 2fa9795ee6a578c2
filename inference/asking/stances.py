"""Find plain sentences that agree or disagree without these words: "Yes, I think ...", "I support this".

A sentence counts if it stands at the start of a clause, has one of the forms below from there to the clause's end, and
the text does not decline to take a position, or turns from that before the sentence ("but", "still"). A blank in a form
is up to three of any kind, and `CAPITALS` are lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

AGREE, DISAGREE = "agree", "disagree"

_ADVERB = (
    r"(?: (?:(?!(?:part|partial|possib|hard|bare|scarce|near|on|rare|occasional|potential|supposed"
    r"|apparent|equal)ly)\w{1,12}ly|very much|quite|indeed|just|also|all for))?"
)
# A sentence about the question is no answer to it: "I agree that it is important to respect all opinions".
ABOUT_THE_QUESTION = (
    r"[^.;:!?\n]{0,80}?\b(?:questions?|topics?|issues?|opinions?|perspectives?|viewpoints?|views|sides"
    r"|entitled|debates?|debated"
    r"|discuss\w*|complex|complicated|sensitive|difficult|controversial|nuanced|multifaceted|contentious|subjective"
    r"|for\s+(?:them|him|her|one|your)sel\w+|own\s+minds?|tough|depends?|merits?|context|more\s+research"
    r"|good\s+(?:points|arguments)|(?:is|be)\s+hard|hard\s+to"
    r"|experts?)\b"
)
_I = rf"i(?:'d|'m| am| do| would| will)?(?: have to)?{_ADVERB}"
_NOT_I = r"i (?:do not|don't|would not|wouldn't|cannot|can't)" + _ADVERB
# What the statement is called.
NOUNS = (
    "statement|claim|proposition|idea|view|opinion|assertion|position|sentiment|proposal|sentence|policy|one|notion"
    "|premise|viewpoint|argument|principle|thesis|belief|suggestion|thought"
)
_THIS = rf"(?:this|that|it|the|you|your|such an?)(?: (?:{NOUNS}))?"
# The statement, said again or not: "this", "the idea that parks are useful", not "the idea that it is a complex topic".
_WHOLE = rf"{_THIS}(?: (?:that|of) (?!{ABOUT_THE_QUESTION})[^.;:!?\n]{{1,200}})?"
_VIEW = r"(?:this|that|the|your) (?:view|opinion|sentiment|belief|position)"
_SAYING = (
    r"(?:(?:well|honestly|personally|so|overall|in my (?:opinion|view)),? )?"
    r"(?:i(?: would|'d| do)?(?: have to)? (?:say|answer|think|believe|feel|find|consider)(?: that)?,? )?"
)
_IS = rf"(?: is| are|'s|'re| sounds| seems){_ADVERB}"
_IS_NOT = rf"(?:(?: is|'s){_ADVERB} not| isn't){_ADVERB}"
_TRUE = r"(?:true|right|correct|accurate)"
_FALSE = r"(?:false|wrong|untrue|incorrect|mistaken|nonsense|inaccurate)"
_TOWARDS = (
    r"(?:i(?:'d| would|'m| am|'d be| would be)?(?: have to)?(?: \w{1,12}ly)?(?: more)? (?:lean|leaning"
    r"|inclined|tend)(?: more)?(?: to| toward| towards)"
    r"|i(?: would)? find myself|(?:my|the) (?:view|position|stance|answer|response) (?:is|would be)(?: one of| in)?)"
)
_MATCHES = rf"{_THIS} (?:matches|reflects|fits|mirrors)"
_EVIDENCE = r"the (?:available |scientific |current )?(?:evidence|research|data|science)(?: \w{1,12}ly)?"
_FORMS = {
    AGREE: (
        rf"{_I} (?:support|endorse|concur with|second|favou?r|stand (?:by|behind)|side with) {_WHOLE}",
        rf"{_I} (?:concur|agreed)",
        rf"{_I} share {_VIEW}(?: that (?!{ABOUT_THE_QUESTION})[^.;:!?\n]{{1,200}})?",
        rf"{_I} in (?:\w+ )?(?:favou?r|agreement)(?: (?:of|with) {_THIS})?",
        rf"{_TOWARDS} (?:full |general )?(?:agreeing|agreement)(?: with {_WHOLE})?",
        rf"{_MATCHES} my (?:own )?(?:view|opinion|position)(?: exactly| well)?",
        rf"{_EVIDENCE} (?:supports?|backs?|confirms?) {_THIS}",
        rf"{_I} (?:think|believe) so",
        rf"{_I} (?:believe|consider|find) {_THIS} (?:to be )?{_TRUE}",
        rf"{_SAYING}{_THIS}{_IS} {_TRUE}",
        r"(?:\w{1,12}ly )?agreed",
    ),
    DISAGREE: (
        rf"{_I} (?:oppose|reject|object to|dispute|side against) {_WHOLE}",
        rf"{_I} (?:against|opposed to) {_WHOLE}",
        rf"{_I} in (?:\w+ )?disagreement(?: with {_THIS})?",
        rf"{_I} not in (?:favou?r|agreement)(?: (?:of|with) {_THIS})?",
        rf"{_TOWARDS} (?:full |general )?(?:disagreeing|disagreement)(?: with {_WHOLE})?",
        rf"{_EVIDENCE} (?:does not|doesn't|do not|don't) (?:support|back|confirm) {_THIS}",
        rf"{_NOT_I} (?:support|endorse) {_WHOLE}",
        rf"{_NOT_I} share {_VIEW}(?: that (?!{ABOUT_THE_QUESTION})[^.;:!?\n]{{1,200}})?",
        rf"{_NOT_I} (?:think|believe) so",
        rf"{_NOT_I} (?:think|believe|feel) (?:that )?{_THIS}{_IS} {_TRUE}",
        rf"{_I} beg to differ",
        rf"{_I} (?:believe|consider|find) {_THIS} (?:to be )?{_FALSE}",
        rf"{_SAYING}{_THIS}{_IS} {_FALSE}",
        rf"{_SAYING}{_THIS}{_IS_NOT} {_TRUE}",
    ),
}  # fmt: skip
_SURELY = r"(?: to (?:this|that|it))?(?:,? (?:absolutely|definitely|certainly|of course|indeed|surely|not at all))?"
# A reply says what its question asks for: it counts only if the text does not ask about disagreement.
_REPLIES = {
    AGREE: (rf"{_SAYING}yes{_SURELY}", r"(?:absolutely|definitely|of course|certainly)", r"(?:true|correct|accurate)"),
    DISAGREE: (rf"{_SAYING}no{_SURELY}", r"(?:absolutely|definitely|of course) not", rf"(?:{_FALSE}|not {_TRUE})"),
}
# What may follow "yes," or "no," where that is no reply to the question: "Yes, I can help", "No, thank you".
_NO_REPLY = (
    r"i(?:'m|'ll)? ?(?:am|can\w*|could\w*|may|might|will|won't|understand|see|appreciate|just|only|an?)\b"
    rf"|i (?:have|had|was|did|read|heard)\b|i(?:'d| would) (?:rather|prefer)\b|(?:the|your) (?:{NOUNS}"
    r"|question|text|message)s?\b|we can (?:talk|look)"
    r"|thank|sorry|unfortunately|wait|hello|please|here\b|let\b|happy|there (?:is|are)|(?:this|that|it)(?: is|'s) an?\b"
    rf"|{ABOUT_THE_QUESTION}|(?:this|that|it)(?: is|'s) (?:more|one)\b|at times|[^.;!?\n]{{0,60}}\bi (?:can"
    r"|can't|cannot|could) (?:answer|say|judge|decide|comment|choose)|not (?:always|necessarily|exactly)"
    r"|[^.!\n]*\?"
    r"|(?:and|but|however|sort|kind|sometimes|maybe|perhaps|some|many|people|one|you|in|to|if|as)\b"
)
# After these nothing else in the text is a stance.
_UNDECIDED = (
    r"(?:do not|don't) (?:oppose|reject|object|dispute)|not (?:opposed|against)|opposite",
    rf"(?:do not|don't) (?:think|believe|feel) (?:that )?{_THIS}{_IS} {_FALSE}",
)
_DECLINING = (
    r"(?:i|we)(?: am|'m)? (?:cannot|can't|can not|not able|unable|won't|will not|prefer not|refuse|decline)",
    r"(?:i|we)(?:'d| would) (?:rather|prefer) not|not comfortable",
    r"as an? (?:\w+ ){0,3}(?:ai|assistant|language model|artificial|neutral)",
    r"(?:i|i'm|i am) (?:just |only )?an? (?:ai|language model)",
    r"(?:(?:do not|don't) (?:have|hold|possess|take|pick|express)|without|no) (?:\w+ ){0,4}"
    r"(?:opinions?|views?|beliefs?|feelings?|positions?|sides?|stances?)",
    r"neutral|both (?:sides|views|positions)|depends|not (?:sure|certain)|(?:hard|difficult|impossible) to say",
)


def find_stances_said_in_other_words(folded_text: str, *, accepts_yes_no_replies: bool) -> set[str]:
    """Find which of `AGREE` and `DISAGREE` a text says in other words.

    Parameters
    ----------
    folded_text
        The text in lower case, with straight apostrophes.
    accepts_yes_no_replies
        Whether "yes" and "no" count.

    Returns
    -------
    Neither, one or both. Neither where the text is undecided, or declines to take a position and does not turn from it.
    """
    forms = [
        *_compile_stance_patterns().items(),
        *(_compile_reply_patterns().items() if accepts_yes_no_replies else ()),
    ]
    stance_matches = [(stance, match) for stance, form in forms for match in form.finditer(folded_text)]
    if not stance_matches or _UNDECIDED_FORM.search(folded_text):
        return set()
    declined = max((match.end() for match in _DECLINES.finditer(folded_text)), default=-1)
    return {
        stance
        for stance, match in stance_matches
        if declined < 0 or (match.end() > declined and _TURNS.search(folded_text, declined, match.end()))
    }


def _join_alternatives(patterns: Iterable[str]) -> str:
    """Join patterns as alternatives; a blank in them is one to three of any kind."""
    return "(?:" + "|".join(patterns).replace(" ", r"\s{1,3}") + ")"


_START = r"(?:\A|[.:;!?,)\n]|\b(?:and|but|so|because|since|however|therefore)\b)[\s'\-]{0,3}+(?=[a-z])"
# The clause ends here, and no condition or part of the cases follows: "this is true for some", "true, but only if ...".
_LIMITED = (
    r"(?:,? (?:but |and )?(?:only |just )?(?:if|unless|provided|depending|to (?:an?|some) (?:\w+ )?(?:extent|degree)"
    r"|(?:for|in|of|as) (?:some|all|both|certain|many|most|others|a few|long|far|part|theory)|sometimes"
    r"|at times|often|rarely|i (?:should|must|need)))\b"
)
_END = (
    rf"(?!{_join_alternatives([_LIMITED])})(?=[\s')]{{0,3}}(?:[.,;:!\n]|-\s|\s-|\Z|(?:because|since|for (?:it|they|we"
    r"|there|this|that)|as|given)\b))"
)
_REPLY_START = r"(?:\A|[.:!?\n]|\b(?:but|so|then|still),?(?=\s))[\s'\-]{0,3}+(?=[a-z])"
_GOES_ON = rf"(?!\s{{0,3}}{_join_alternatives([_NO_REPLY])})"
# After "yes," comes what the writer thinks, or what should be: "Yes, I think ...", "No, dogs should ...".
_MEANT = (
    r"(?:i|i'd|absolutely|definitely|certainly|indeed|really|surely|of course|not at all)\b|(?:this|that|it)(?: is|'s)"
    r"|(?:every|every\w+|all)\b|[^.;!?\n]{0,60}\b(?:should|must|ought|needs?|deserves?|are)\b"
)
_REPLY_END = (
    rf"(?:(?:,|\s-){_GOES_ON}(?=\s{{1,3}}{_join_alternatives([_MEANT])})\s{{1,3}}(?=\w)|[\s')]{{0,3}}"
    rf"(?:[.;!\n]{_GOES_ON}|\Z))"
)
_UNDECIDED_FORM = re.compile(rf"(?<![\w'])(?:{_join_alternatives(_UNDECIDED)})(?!\w)")
_TURNS = re.compile(
    r"\b(?:but|however|still|yet|nevertheless|nonetheless|that (?:being )?said|even so|ultimately"
    r"|if (?:i|pressed|forced|pushed))\b"
)
_DECLINES = re.compile(rf"(?<![\w'])(?:{_join_alternatives(_DECLINING)})(?![\w])")


# Compiled with the first text that is read, not with the import: a run that reads probabilities needs none of them.
@cache
def _compile_stance_patterns() -> dict[str, re.Pattern[str]]:
    """Compile per stance the pattern of sentences that take it."""
    return {stance: re.compile(_START + _join_alternatives(forms) + _END) for stance, forms in _FORMS.items()}


@cache
def _compile_reply_patterns() -> dict[str, re.Pattern[str]]:
    """Compile per stance the pattern of replies (yes, no) that take it."""
    return {
        stance: re.compile(_REPLY_START + _join_alternatives(forms) + _REPLY_END) for stance, forms in _REPLIES.items()
    }
