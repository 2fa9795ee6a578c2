"""Compute exact probabilities of answers from next-token probabilities, for every engine."""
