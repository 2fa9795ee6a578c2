"""Does a model say the same when a yes/no question is put in other words? The measures of Takayama et al.

::

    run = runs.open("results/wording")
    consistency.consistency(run)                        # one row per model, language, task, condition and pattern
    consistency.consistency(run, invalid="inconsistent")
    consistency.overall(run)                            # means over patterns and tasks
"""
