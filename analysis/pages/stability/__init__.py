"""Does the answer change with the wording? Protocol `agreement`, Haller et al."""
