"""List the tables about people beside models; `columns` says what their columns mean."""

from analysis.reporting.catalogue import Table, split_names

FIGURES = ("w1", "tv", "alignment", "correlation", "bias", "excess")  # with intervals over items and over people
BOUNDS = {"w1": (0.0, 1.0), "tv": (0.0, 1.0), "alignment": (0.0, 1.0), "bias": (-1.0, 1.0)}  # what they can be
_ENDS = ("lower", "upper", "people_lower", "people_upper")
_UNIT = "study model condition persona"
_PEOPLE = (
    "Beside people: no larger where the excess is at most 0 even at both upper ends, larger where it is above 0 even "
    "at both lower ends, else open."
)
PEOPLE_TABLES = {
    "scales_people": Table(
        "people.tabulate_distances_from_people_by_scale",
        "Models beside people",
        "Mean over items of the distance between the answers of a model and of people: Wasserstein-1 on ranks, by K - "
        "1, and total variation. Alignment is 1 less the first. Net: less what chance makes of as many people. Between "
        "people: the same between two random halves of them, corrected to their full number. Excess: how much further "
        "a model is from people than that; one with fewer sampled answers than people, than a group of so many. Bias: "
        "s of the model less that of people, after reversing. 95 % intervals over items (t; correlations: Fisher's z), "
        f"and over people (bootstrap). {_PEOPLE}",
        split_names(f"{_UNIT} scale validity n_items n_people")
        + tuple(name for figure in FIGURES for name in (figure, *(f"{figure}_{end}" for end in _ENDS)))
        + split_names("w1_net tv_net w1_between tv_between alignment_between correlation_between beside_people"),
        frozenset(split_names("validity n_people tv_net tv_between alignment_between"))
        | {"tv", *(f"{figure}_{end}" for figure in FIGURES for end in _ENDS)},
        frozenset({"persona", "bias"}),
    ),
    "scales_people_items": Table(
        "people.tabulate_distances_from_people_by_item",
        "Models beside people, by item",
        "s of the model and of people, before reversing, and the distances between their answers; net of chance, and "
        "between two groups of as many people.",
        split_names(f"{_UNIT} item scale key n_people s_model s_people difference w1 w1_net w1_between tv tv_net "
                    "tv_between"),
        frozenset(split_names("n_people tv tv_net tv_between")), frozenset({"persona"}),
    ),
    "scales_people_shares": Table(
        "people.tabulate_answer_shares_of_people",
        "What people answered",
        "Share of every option, the lowest first, and mean s, before reversing.",
        split_names("study item scale key n_people score share_*"),
    ),
    "scales_respondents": Table(
        "people.tabulate_consistency_of_scales",
        "How consistent the scales are",
        "Cronbach's alpha with Feldt's 95 % interval, and total omega of one factor by maximum likelihood. Both are "
        "over models, over the personas of a model, and over people where these are known one by one. Every two items "
        "are compared on the respondents who answered both; listwise: on those who answered all items.",
        split_names("study respondents model condition scale n_items n_respondents alpha alpha_lower alpha_upper omega "
                    "n_listwise alpha_listwise why_not"),
        frozenset(split_names("alpha_lower alpha_upper n_listwise alpha_listwise")),
        frozenset({"model", "condition", "why_not"}),
    ),
}  # fmt: skip
