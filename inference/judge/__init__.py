"""Let a model read the texts of a run: which option does each mean?"""
