"""Import tables: answers in long form, and accuracies."""
