"""Figures from the tables of the report: frame in, figure out, nothing read and nothing written.

Every function takes `width` in inches (`PAGE` for a page, `COLUMN` for one column or a phone) and `looks`, the colours
of the models; without it the colours follow from the models in the frame. `captions` says in words what each shows::

    figure = plots.overview(stability.models(runs.open("results/demo")))
    plots.save(figure, Path("overview"))        # overview.svg and overview.pdf
"""

from analysis.plots.items import agreement, item_stability, pages, validity
from analysis.plots.models import differences, headline, overview
from analysis.plots.scoring import score_influence, score_methods, score_temperatures, score_violins
from analysis.plots.style import COLUMN, PAGE, Drawing, Look, looks, save, svg
from analysis.plots.wordings import correlations, effects, intercepts, residuals

STABILITY = ("overview", "agreement", "item_stability", "validity", "differences")
WORDINGS = ("effects", "correlations", "residuals", "intercepts")
SCORING = ("score_violins", "score_temperatures", "score_methods", "score_influence")
FIGURES = (*STABILITY, *WORDINGS, *SCORING)

__all__ = [
    "COLUMN",
    "FIGURES",
    "PAGE",
    "SCORING",
    "STABILITY",
    "WORDINGS",
    "Drawing",
    "Look",
    "agreement",
    "correlations",
    "differences",
    "effects",
    "headline",
    "intercepts",
    "item_stability",
    "looks",
    "overview",
    "pages",
    "residuals",
    "save",
    "score_influence",
    "score_methods",
    "score_temperatures",
    "score_violins",
    "svg",
    "validity",
]
