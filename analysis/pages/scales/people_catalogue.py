"""List the tables about people beside models, and say what their columns mean."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.pages.scales.columns import DIFFERENCE, SHARE, S
from analysis.reporting.catalogue import Measures, Table, split_names
from analysis.reporting.catalogue.columns import Column

FIGURES = ("w1", "tv", "alignment", "correlation", "bias", "excess")  # with intervals over items and over people
_ENDS = ("lower", "upper", "people_lower", "people_upper")
_UNIT = "study model condition persona"
_PEOPLE = (
    "Beside people: no larger where the excess is at most 0 even at the upper ends of both its intervals, larger where "
    "it is above 0 even at both lower ends, else open."
)
PEOPLE_TABLES = {
    "scales_people": Table(
        "people.tabulate_scales_people",
        "Models beside people",
        "Mean over items of the distance between the answers of a model and of people: Wasserstein-1 on ranks, by K - "
        "1, and total variation; alignment is 1 less the first. Net: less what chance makes of as many people. Between "
        "people: the same between two random halves of them, corrected to their full number. Excess: how much further "
        "a model is from people than that. Bias: s of the model less that of people, after reversing. 95 % intervals "
        f"over items (t; correlations: Fisher's z), and over people (bootstrap). {_PEOPLE}",
        split_names(f"{_UNIT} scale validity n_items n_people")
        + tuple(name for figure in FIGURES for name in (figure, *(f"{figure}_{end}" for end in _ENDS)))
        + split_names("w1_net tv_net w1_between tv_between alignment_between correlation_between beside_people"),
        frozenset(split_names("validity n_people tv_net tv_between alignment_between"))
        | {name for figure in FIGURES for name in (f"{figure}_people_lower", f"{figure}_people_upper")}
        | {f"tv{end}" for end in ("", "_lower", "_upper")},
        frozenset({"persona", "bias"}),
        measures=Measures({"w1": "Distance to people", "alignment": "Alignment"}, kinds=("persona", "scale")),
    ),
    "scales_people_items": Table(
        "people.tabulate_scales_people_items",
        "Models beside people, by item",
        "s of the model and of people, before reversing, and the distances between their answers; net of chance, and "
        "between two groups of as many people.",
        split_names(f"{_UNIT} item scale key n_people s_model s_people difference w1 w1_net w1_between tv tv_net "
                    "tv_between"),
        frozenset(split_names("n_people tv tv_net tv_between")), frozenset({"persona"}),
    ),
    "scales_people_shares": Table(
        "people.tabulate_scales_people_shares",
        "What people answered",
        "Share of every option, the lowest first, and mean s, before reversing.",
        split_names("study item scale key n_people score share_*"),
    ),
    "scales_respondents": Table(
        "people.tabulate_scales_respondents",
        "How consistent the scales are",
        "Cronbach's alpha with Feldt's 95 % interval, and total omega of one factor by maximum likelihood: over "
        "models, over the personas of a model, and over people where these are known one by one. Every two items are "
        "compared on the respondents who answered both; listwise: on those who answered all items.",
        split_names("study respondents model condition scale n_items n_respondents alpha alpha_lower alpha_upper omega "
                    "n_listwise alpha_listwise why_not"),
        frozenset({"n_listwise", "alpha_listwise"}), frozenset({"model", "condition", "why_not"}),
    ),
}  # fmt: skip
_FIGURE_COLUMNS = {
    "w1": Column("mean distance to the answers of people: Wasserstein-1 on ranks, by K - 1", S, "Distance", 3),
    "tv": Column("mean total variation to the answers of people: the share of answers that differ", SHARE,
                 "Total variation", 3),
    "alignment": Column("1 less the mean distance", SHARE, "Alignment", 3),
    "correlation": Column("Pearson's r over items of mean s of the model and of people, before reversing", "-1 to 1",
                          "Correlation", 2),
    "bias": Column("mean over the items of a scale of s of the model less that of people, after reversing", DIFFERENCE,
                   "Bias", 3),
    "excess": Column("mean distance less that between two groups of as many people", DIFFERENCE, "Excess", 3),
}  # fmt: skip


def _describe_ends(name: str) -> dict[str, Column]:
    """Describe the ends of both intervals of a figure."""
    figure = _FIGURE_COLUMNS[name]
    return {
        f"{name}_{over}{end}": Column(
            f"{end} end of the 95 % interval over {who}, of: {figure.meaning}", figure.unit,
            f"{figure.header}, {who}: {end}", figure.digits,
        )
        for over, who in (("", "items"), ("people_", "people"))
        for end in ("lower", "upper")
    }  # fmt: skip


_OWN_COLUMNS = {
    "scale": Column("name of the scale, or all items", header="Scale"),
    "persona": Column("name of the persona that the model was asked as, or all of them: their mixture",
                      header="Persona"),
    "n_items": Column("items that the model and people answered", "items", "Items"),
    "w1_net": Column("mean distance less that of people drawn anew from the people", DIFFERENCE, "Net", 3),
    "tv_net": Column("mean total variation less that of people drawn anew from the people", DIFFERENCE, "Net (TV)", 3),
    "alignment_between": Column("alignment of two groups of as many people", SHARE, "Alignment of people", 3),
    "correlation_between": Column("correlation of the item means of two halves of the people, corrected to their full "
                                  "number (Spearman, Brown)", "-1 to 1", "Correlation of people", 2),
    "beside_people": Column("whether the distance is larger than between two groups of as many people",
                            header="Beside people"),
}  # fmt: skip
PEOPLE_COLUMNS: Mapping[str, Column] = {
    **_FIGURE_COLUMNS,
    **{name: column for figure in FIGURES for name, column in _describe_ends(figure).items()},
    **{f"scales_people.{name}": column for name, column in _OWN_COLUMNS.items()},
    "n_people": Column("people who answered an item, on average; empty where that is not known", "people", "People", 0),
    "scales_people_items.persona": _OWN_COLUMNS["persona"],
    "scales_people_items.w1": Column("distance to the answers of people: Wasserstein-1 on ranks, by K - 1", S,
                                     "Distance", 3),
    "scales_people_items.tv": Column("total variation to the answers of people", SHARE, "Total variation", 3),
    "w1_net": Column("distance less that of people drawn anew from the people", DIFFERENCE, "Net", 3),
    "tv_net": Column("total variation less that of people drawn anew from the people", DIFFERENCE, "Net (TV)", 3),
    "w1_between": Column("distance between two groups of as many people", S, "Between people", 3),
    "tv_between": Column("total variation between two groups of as many people", SHARE, "Between people (TV)", 3),
    "s_model": Column("mean answer of the model from 0 (lowest option) to 1, before reversing", S, "s, model", 3),
    "s_people": Column("mean answer of people from 0 (lowest option) to 1, before reversing", S, "s, people", 3),
    "scales_people_items.difference": Column("s of the model less s of people", DIFFERENCE, "Difference", 3),
    "scales_people_shares.score": Column("mean answer of people from 0 (lowest option) to 1, before reversing", S, "s",
                                         3),
    "respondents": Column("who the respondents are: models, personas of a model, or people", header="Respondents"),
    "scales_respondents.model": Column("model whose personas are the respondents", header="Model"),
    "scales_respondents.n_items": Column("items of the scale that were answered", "items", "Items"),
    "n_respondents": Column("respondents who answered an item of the scale", "respondents", "Respondents"),
    "alpha": Column("Cronbach's alpha, pairwise", "1 at most", "Alpha", 3),
    "alpha_lower": Column("lower end of its 95 % interval (Feldt)", "1 at most", "Lower", 3),
    "alpha_upper": Column("upper end of its 95 % interval (Feldt)", "1 at most", "Upper", 3),
    "omega": Column("total omega of one factor, by maximum likelihood", SHARE, "Omega", 3),
    "n_listwise": Column("respondents who answered all items of the scale", "respondents", "Answered all"),
    "alpha_listwise": Column("Cronbach's alpha of those", "1 at most", "Alpha (all)", 3),
    "why_not": Column("why there is no alpha or omega", header="Why not"),
}  # fmt: skip
