"""Tune an encoder: `waver tune nli`. What it makes is asked like any other model, by the engine `classifier`."""

VERBS = {
    "nli": "tune an encoder to label premises and hypotheses; the same call continues a stopped one",
}
