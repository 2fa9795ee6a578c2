"""Ask whether wordings mean the same as the original, and how much of what they do to answers is meaning."""
