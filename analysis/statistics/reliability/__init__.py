"""Tell how far figures rest on the items and wordings at hand, and what others, or more of them, would have shown.

- `components`: how much of the variance of answers is due to items, to wordings, to models and to what they share;
- `panel`: mean of one unit, or of a difference, with intervals for these wordings and for wordings like these;
- `generalizability`: coefficients of reliability made from components;
- `at_k`: what range, SD and flips would be at another number of wordings;
- `templates`: what accuracies of templates are summed up to;
- `replication`, `ranking`: whether a sign or a ranking would stand in another study;
- `forecast`, with `deviations` and `flips`: what a pilot says of the errors of other studies; `planning`: designs;
- `backtest`, `calibration`: whether what is foreseen comes true.
"""
