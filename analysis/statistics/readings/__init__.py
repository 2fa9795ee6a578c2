"""Compare several readings of the same wordings: what they share, and what belongs to one of them."""
