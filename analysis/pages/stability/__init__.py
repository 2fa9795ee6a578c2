"""Measure how far answers change with the wording. Protocol `agreement`, Haller et al."""
