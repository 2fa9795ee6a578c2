"""Turn tables into text, files, pictures and pages. Nothing here knows a page by its name."""
