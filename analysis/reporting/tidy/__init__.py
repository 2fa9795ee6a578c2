"""Give run folders as tidy tables: responses, wordings, items, models and conditions, every column explained."""
