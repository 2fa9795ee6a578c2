"""Correlate consistency with model size, accuracy and benchmarks. Protocol `wording`, Takayama et al., section 6.

::

    run = analysis.open("results/demo/wording")
    run.table("benchmarks", scores="huggingface_v2.csv", aliases="aliases.csv")
    run.table("benchmark_names", scores="huggingface_v2.csv")     # which models were matched, which were not
"""
