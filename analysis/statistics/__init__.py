"""Compute statistics with formulas on arrays and frames; nothing here knows what a run is."""
