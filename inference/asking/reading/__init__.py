"""Read the option out of a text by the strict rule, beside the lenient one of `inference.asking.text_answers`."""
