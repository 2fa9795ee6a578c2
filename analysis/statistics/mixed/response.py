"""Compute the response of a mixed model: agreement as it is, or its logit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ground.errors import InputError

SCALES = ("identity", "logit")
CLIP = 1e-6  # agreement nearer to 0 or 1 is moved to this distance before its logit is taken


@dataclass(frozen=True, slots=True)
class Response:
    """Hold the response: `values` per row (NaN where undefined), and `note`, in words, how they were computed."""

    values: NDArray[np.float64]
    note: str


def compute_response_on_scale(
    agreement: ArrayLike, log_odds: ArrayLike | None = None, *, scale: str = "identity"
) -> Response:
    """Compute the response on the given scale.

    Parameters
    ----------
    agreement : p(agree) / (p(agree) + p(disagree)) per row, 0-1; NaN where undefined.
    log_odds : log p(agree) - log p(disagree) per row, from log-probabilities; NaN if a row has none, infinite if one
        option has no probability at all.
    scale : "identity" is agreement as it is. "logit" is `log_odds` unclipped where it is finite; elsewhere
        (sampled counts, an option without probability) the logit of agreement clipped to [CLIP, 1 - CLIP].

    Returns
    -------
    Response
        One value per row, NaN where agreement and log-odds are.

    Raises
    ------
    InputError
        For an unknown scale, or agreement outside 0-1.
    """
    share = np.asarray(agreement, dtype=float)
    if scale not in SCALES:
        raise InputError(f"no scale '{scale}'; there are {' and '.join(SCALES)}")
    if (outside := int(((share < 0) | (share > 1)).sum())) > 0:
        raise InputError(f"agreement lies outside 0 to 1 in {outside:,} of {share.size:,} rows")
    if scale == "identity":
        return Response(share, "agreement, 0 to 1")
    exact = np.full(share.shape, np.nan) if log_odds is None else np.asarray(log_odds, dtype=float)
    is_exact = np.isfinite(exact)
    needs_agreement = ~is_exact & np.isfinite(share)
    values = exact if is_exact.all() else np.where(is_exact, exact, np.nan)  # of millions of rows, no copy
    if not needs_agreement.any():
        return Response(values, "logit of agreement, from log-probabilities; nothing clipped")
    inexact_share = share[needs_agreement]
    clipped = np.clip(inexact_share, CLIP, 1 - CLIP)
    values[needs_agreement] = np.log(clipped) - np.log1p(-clipped)
    return Response(
        values,
        f"logit of agreement; {len(clipped):,} of {share.size:,} rows without finite log-probabilities, "
        f"{int((clipped != inexact_share).sum()):,} of them clipped to [{CLIP:g}, 1 - {CLIP:g}]",
    )
