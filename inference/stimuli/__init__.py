"""Describes what is asked: studies, items, variants and their prompts; written to `stimuli.parquet`."""
