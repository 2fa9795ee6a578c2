"""Make paraphrases: `waver paraphrase make | sheet | checked | combine`.

A model is asked several times for several paraphrases of every original; its raw answers are kept as a run folder
(`calls`), and the paraphrases that are chosen from them are items that `run --items` reads.
"""
