"""Turn wordings into prompts by the templates of prompt files."""
