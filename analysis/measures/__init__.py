"""Measure answers by SQL and arrays, for all pages that need them."""
