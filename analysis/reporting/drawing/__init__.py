"""Draw figures: their style, their layout, and the pictures that a figure has."""
