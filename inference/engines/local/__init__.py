"""Asks models on this machine with transformers."""
