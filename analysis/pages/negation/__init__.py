"""Measure what a negation does to judgements about premise and hypothesis. Protocol `negation`, Yoshida et al."""
