"""Correlate the measures of all pages with model size, accuracy and benchmarks. Takayama et al., section 6.

::

    run = waver.open("results/demo")
    run.table("benchmarks", scores="huggingface_v2.csv", aliases="aliases.csv")
    run.table("benchmark_names", scores="huggingface_v2.csv")     # which models were matched, which were not
"""
