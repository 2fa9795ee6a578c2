"""Negate sentences: `waver negate FILE --language ja|en --out OUT.jsonl` (Yoshida et al., section 3.1.1).

Rules put one negation into a sentence wherever it can stand, one per output; sentences that hold a negation already
are left out. A model may then judge which outputs are right, and its verdicts may be compared with those of people.
"""

LANGUAGES = ("ja", "en")
