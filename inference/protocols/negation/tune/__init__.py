"""Tune encoders to label premises and hypotheses: `waver tune nli`, for the engine `classifier`."""
