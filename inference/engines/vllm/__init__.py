"""Ask models with vLLM."""
