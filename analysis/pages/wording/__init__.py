"""Measure whether a model answers a question the same in other words. Protocol `wording`, Takayama et al.

::

    run = waver.open("results/demo/wording")
    run.table("consistency")                        # one row per model, language, task, condition and pattern
    run.table("consistency", invalid="inconsistent")
    run.table("overall")                            # means over patterns and tasks
"""
