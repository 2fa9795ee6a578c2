"""The page about protocol `scale`: where models stand on rating scales, and what moves their answers."""
