"""Tell how well a check parts decoys from wordings of the same meaning, and what follows for every wording."""
