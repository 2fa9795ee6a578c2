"""Import what lm-evaluation-harness logged."""
