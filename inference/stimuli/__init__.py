"""Describe what is asked: studies, items, variants and their prompts, as written to `stimuli.parquet`."""
