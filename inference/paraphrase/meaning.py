"""Measure how close two wordings are in meaning: the cosine of their sentence embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from ground.errors import InputError
from ground.extras import convert_import_errors_to_install_advice


class Meaning:
    """A loaded sentence-transformers model.

    Parameters
    ----------
    model
        Folder or hub id. Nothing in it is executed: weights are safetensors, its own code is refused.
    option
        The option that names it, for messages.
    revision
        Commit of a hub model; None: its main branch.

    Raises
    ------
    InputError
        sentence-transformers is not installed, or there is no such model.
    """

    def __init__(self, model: str, option: str = "--meaning-check", revision: str | None = None) -> None:
        with convert_import_errors_to_install_advice(option):
            import sentence_transformers
            from sentence_transformers.util import is_sentence_transformer_model
        try:
            if not is_sentence_transformer_model(model):  # the library would make an encoder of any model
                raise ValueError("there is no modules.json")
            self._encoder = sentence_transformers.SentenceTransformer(
                model,
                revision=revision,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True, "dtype": "float32"},
            )
        except (OSError, ValueError, KeyError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"{option} {model}: not a sentence-transformers model ({reason})") from None

    def compute_cosines_with_original(self, original: str, wordings: Sequence[str]) -> list[float]:
        """Compute the cosine of each wording's sentence embedding with the original's.

        Parameters
        ----------
        original
            The original.
        wordings
            Other wordings; none: an empty list is returned.

        Returns
        -------
        Per wording its cosine, -1 to 1.
        """
        if not wordings:
            return []
        embeddings = self._encoder.encode([original, *wordings], normalize_embeddings=True, show_progress_bar=False)
        return [float(cosine) for cosine in embeddings[1:] @ embeddings[0]]
