"""Give run folders as tidy tables: responses, thoughts, wordings, items, models, conditions; columns are explained."""
