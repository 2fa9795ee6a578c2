"""Correlation of consistency with model size, task accuracy and external benchmarks (Takayama et al., section 6).

::

    run = runs.open("results/wording")
    benchmarks.benchmarks(run, scores="huggingface_v2.csv", aliases="aliases.csv")
    benchmarks.benchmark_names(run, scores="huggingface_v2.csv")     # who was matched, who was not
"""
