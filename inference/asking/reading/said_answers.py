"""Recognise the words with which a reply says its answer: "The correct answer is B", "Final answer: 3", "答えは3です".

Regular expressions of texts after NFKC, for the protocols that read letters and numbers; case is to be ignored.
"""

from __future__ import annotations

_EMPHASIS = r"[\s*_`]*"
SAID_ANSWER = (
    r"(?:(?:so|thus|hence|therefore|well|overall)\b,?\s*)?(?:i\s+(?:think|believe)\s+(?:that\s+)?)?"
    r"(?:(?:(?:the|my)\s+)?(?:(?:final|correct|right|best)\s+)*"
    rf"(?:answer|reply|response|choice|option|rating|score){_EMPHASIS}(?::|\b(?:is|would\s+be)\b:?)"
    rf"|(?:die\s+)?(?:richtige\s+)?antwort{_EMPHASIS}(?::|\b(?:ist|lautet)\b:?)"
    rf"|(?:la\s+)?(?:bonne\s+)?réponse{_EMPHASIS}(?::|\best\b:?)"
    rf"|(?:la\s+)?respuesta(?:\s+correcta)?{_EMPHASIS}(?::|\bes\b:?)"
    rf"|(?:私の|我的)?(?:最終的?な?|正しい|最终|正确的?)?(?:答え|回答|解答|正解|正答|答案){_EMPHASIS}(?:[:は是为][、:]?)"
    rf"|(?:(?:제|저의)\s+)?(?:최종\s*|올바른\s*)?(?:정답|답변|대답|답){_EMPHASIS}(?::|[은는]:?)){_EMPHASIS}"
)
"""What stands before an answer. A colon or a verb belongs to it: "Answer 5" has no such words."""
JOINING_WORDS = r"to|or|and|vs\.?|versus|maybe|perhaps|bis|oder|und|à|ou|et|o|y|e|en|または|或者?|到|또는|혹은"
"""What stands between two numbers or letters that are both named; not the Dutch "of", which is English, too."""
_JOINING_MARK = r"[,;&+|/~、・\u301c\u2013\u2014-]"
JOINER = rf"(?:(?:{_JOINING_MARK}\s*)?\b(?:{JOINING_WORDS})|{_JOINING_MARK}|[とか和])"
"""The same, marks among it: "B/C", "B, C", "B, or C". What follows must be seen to be another answer."""
LABEL_NOUN = r"(?:option|choice|選択肢|选项)\s*"
"""What may stand right before a letter or a number: "Option B"."""
COPULA = r"(?:です(?!か)|だ(?!け|が)|である|でしょう|になります|となります|번?(?:입니다|이다|이에요|예요)|번(?!\w))"
"""What ends a Japanese or Korean sentence right behind it: "3です", "3번입니다"."""
