"""Figures from the tables of the report: frame in, figure out, nothing read and nothing written.

Every function takes `width` in inches (`PAGE` for a page, `COLUMN` for one column or a phone) and `looks`, the colours
of the models; without it the colours follow from the models in the frame. `captions` says in words what each shows::

    figure = plots.overview(stability.models(runs.open("results/demo")))
    plots.save(figure, Path("overview"))        # overview.svg and overview.pdf
"""

from analysis.pages.benchmarks.plots import accuracy_consistency, coefficients, size_overall
from analysis.pages.scoring.plots import score_influence, score_methods, score_temperatures, score_violins
from analysis.pages.stability.model_plots import differences, headline, overview
from analysis.pages.stability.plots import agreement, item_stability, pages, validity
from analysis.pages.text_features.plots import correlations, effects, intercepts, residuals
from analysis.pages.wording.plots import consistency, diff_yes, overall_scores, shift_curve, stage_differences
from analysis.reporting.plotting import COLUMN, PAGE, Drawing, Look, looks, save, svg

STABILITY = ("overview", "agreement", "item_stability", "validity", "differences")
WORDINGS = ("effects", "correlations", "residuals", "intercepts")
SCORING = ("score_violins", "score_temperatures", "score_methods", "score_influence")
CONSISTENCY = ("consistency", "diff_yes", "overall_scores", "stage_differences", "shift_curve")
BENCHMARKS = ("size_overall", "accuracy_consistency", "coefficients")
FIGURES = (*STABILITY, *WORDINGS, *SCORING, *CONSISTENCY, *BENCHMARKS)

__all__ = [
    "BENCHMARKS",
    "COLUMN",
    "CONSISTENCY",
    "FIGURES",
    "PAGE",
    "SCORING",
    "STABILITY",
    "WORDINGS",
    "Drawing",
    "Look",
    "accuracy_consistency",
    "agreement",
    "coefficients",
    "consistency",
    "correlations",
    "diff_yes",
    "differences",
    "effects",
    "headline",
    "intercepts",
    "item_stability",
    "looks",
    "overall_scores",
    "overview",
    "pages",
    "residuals",
    "save",
    "score_influence",
    "score_methods",
    "score_temperatures",
    "score_violins",
    "shift_curve",
    "size_overall",
    "stage_differences",
    "svg",
    "validity",
]
