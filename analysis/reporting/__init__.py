"""From tables to text, files, pictures and pages. Nothing here knows a page by its name."""
