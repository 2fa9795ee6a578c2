"""Make the demo models again, and examine them: no part of the product, which only asks them.

`curriculum` says how each was taught, `train` made them, `evaluate` and `evaluate_thoughts` examine them, `benchmarks`
scores them, `encoders` made what the two encoders are tuned from, and `questionnaire` what all are asked. `raters` made
the models that answer rating scales, `entailment` the one that reads pairs of wordings, `planted` false paraphrases,
and `annotators` what people say of them. In the repository's root, for each from `train` on:

    PYTHONPATH=tests .venv/bin/python -m demo_training.train
"""
