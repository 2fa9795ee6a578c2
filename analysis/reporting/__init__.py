"""Turns frames into text, files, pictures and pages; knows no page by name."""
