"""Checks of rules on runs: each holds, is broken, or cannot be told."""
