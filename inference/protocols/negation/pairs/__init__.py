"""Make pairs of sentences with negations, and label them by hand: `waver pairs sheet | label` (Yoshida et al.).

Labelled pairs of premise and hypothesis, and negations of their sentences, become pairs with a negation in one sentence
or in both, in a sheet for annotators. The filled sheet becomes items that `run negation` reads.
"""
