"""The pages of the report, a folder each."""
