"""Ask as personas: every one is a condition."""
