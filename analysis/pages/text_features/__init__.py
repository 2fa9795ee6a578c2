"""What in a wording moves the answer: features, mixed models and their diagnostics as tables of the report.

::

    run = runs.open("results/demo/agreement")
    wordings.mixed(run)                       # one row per model and predictor
    wordings.mixed(run, scale="logit")
    wordings.table3(run)                      # as in Haller et al., beside what they printed
"""
