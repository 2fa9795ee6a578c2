"""Ask a model on a server for its thoughts, and for the probabilities of the options after each."""
