"""What both wings stand on: errors, the words of a call, run.json, and files that are written whole or not at all."""
