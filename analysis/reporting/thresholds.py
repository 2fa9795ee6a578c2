"""Define the thresholds of warnings that several pages share."""

from __future__ import annotations

LOW_MASS = 0.5  # below this mass, an answer is not even what the model would say most of the time
