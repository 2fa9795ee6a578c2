"""Make paraphrases: `waver paraphrase make | sheet | checked | combine`.

A model is asked several times for several paraphrases of every original; its raw answers are kept as a run folder
(`calls`), and the paraphrases that are chosen from them are items that `run --items` reads.
"""

VERBS = {
    "make": "ask a model for paraphrases of every item's original; the same call continues a stopped one",
    "sheet": "draw some paraphrases of every item into a table, to be checked by hand",
    "checked": "write the match proportion of a filled sheet into the items",
    "combine": "put paraphrases from several sources into one items file",
}
