"""Asks models with vLLM."""
