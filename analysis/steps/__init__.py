"""Compute the measures of the pages in the plain way: small functions on DataFrames, for notebooks.

The tables of the pages are computed in SQL, for millions of rows. The functions here are what a reader follows step by
step; each page's notebook ends with a comparison of both.
"""
