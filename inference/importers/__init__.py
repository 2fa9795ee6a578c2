"""Import other people's files: each importer turns them into a run folder like any other."""
