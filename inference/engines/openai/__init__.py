"""Asking a model behind an OpenAI-compatible server: requests, limits, and what its top tokens say of the options."""
