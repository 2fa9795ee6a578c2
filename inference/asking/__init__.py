"""Turn prompts into rows: rounds of questions, the models asked, the loop that asks them."""
