"""Explain answers by features of the wording: mixed models and their diagnostics. Protocol `agreement`, Haller et al.

::

    run = waver.open("results/demo/agreement")
    run.table("mixed")                        # one row per model and predictor
    run.table("mixed", scale="logit")
    run.table("table3")                       # the numbers of Haller et al., Table 3, and ours
"""
