"""What a check says: lines, JSON, JUnit, Markdown, and rules in words."""
