"""Define the thresholds of warnings that several pages share."""

from __future__ import annotations

FEW_MODELS, FEW_ITEMS = 3, 30  # below them a page says that they are few
LOW_MASS = 0.5  # below this mass, an answer is not even what the model would say most of the time
