"""The page about models that were asked several times: whether their answers changed, when, and in which items."""
