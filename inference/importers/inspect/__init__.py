"""Import the logs of Inspect."""
