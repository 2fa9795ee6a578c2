"""Read the answers of every study as arrays (units, items, wordings), and whether items share their wordings.

Wordings are those whose answers are compared with each other:

- of the protocol `agreement` the paraphrases without the original, of `wording` all (`agreements`);
- of `choice` all wordings of a question, or where there is one, the orders of its options (`choices`);
- of `scoring` the prompts that ask for a score in the same setting (`scores`);
- of `scored` all wordings of an item, by every measure (`scored`);
- of `scale` the wordings of an item beside its original, if there are any (`ratings`).
"""

from analysis.measures.reworded.study import (
    ACCURACY,
    AGREEMENT,
    CROSSED,
    LOGIT,
    NESTED,
    SCORE,
    THOUGHTS,
    Study,
    estimate_components_across_models,
)

__all__ = ["ACCURACY", "AGREEMENT", "CROSSED", "LOGIT", "NESTED", "SCORE", "THOUGHTS", "Study",
           "estimate_components_across_models"]  # fmt: skip
