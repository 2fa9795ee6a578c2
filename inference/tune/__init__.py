"""Tune models: what the tunings of the protocols share, and the word `tune` of the command line."""

COMMAND = "tune"
HELP = "tune a model on labelled pairs of sentences, or on its own right answers"
