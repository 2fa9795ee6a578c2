"""The page of examples: what exactly was asked about some items, and what every model answered."""
