"""Plan the size of a study or of a check: how many items, wordings and samples it needs, from a pilot."""
