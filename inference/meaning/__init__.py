"""Check whether wordings mean the same as their original: by words, embeddings, entailment, a judge, and people."""
