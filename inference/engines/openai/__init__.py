"""Ask a model on an OpenAI-compatible server: requests, rate limits, and option probabilities from top tokens."""
