"""Ask models on this machine with transformers."""
