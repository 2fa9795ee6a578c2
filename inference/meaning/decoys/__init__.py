"""Make decoys: sentences that look like wordings of an item and mean something else (`making.make_decoys`).

They are made of the very items that are studied, by rules and word lists, never by a model under study.
"""
