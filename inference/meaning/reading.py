"""Ask a model about pairs of texts, and keep what it said; only new pairs are asked, of a new model all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ground.errors import InputError, RunFailed
from inference.asking.failures import NO_FAILURES, AllowedFailures
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines import is_engine_of_server
from inference.engines.contract import Engine
from inference.judge.parts import LoadEngine, PartAsker
from inference.meaning.checks import ENTAILMENT, Check
from inference.meaning.questions import DIRECTIONS, EntailmentQuestions, JudgeQuestions, build_pair_study
from inference.meaning.wordings import Pair
from inference.stimuli.nli import LABELS

N_CONDITIONS = len(DIRECTIONS)  # as many as orders of the options


class Reading(NamedTuple):
    """What a check says: score by key of the pair; who it is, for the record; and why some pairs have no score."""

    score_by_key: Mapping[str, float]
    about: Mapping[str, Any]
    failure: RunFailed | None = None


class PairAsker(PartAsker):
    """A model that says of pairs of texts whether they mean the same.

    Parameters
    ----------
    check
        What is asked of which model.
    root
        The folder in which its answers are kept.
    settings, questions
        How the model is run, and its prompts.
    classes
        What the classes of a classifier mean, in their order, where its configuration does not say; empty: it does.
    load
        Makes the engine; None: as the settings say.
    """

    def __init__(
        self,
        check: Check,
        root: Path,
        settings: Settings,
        questions: EntailmentQuestions | JudgeQuestions,
        *,
        classes: Sequence[str] = (),
        load: LoadEngine | None = None,
    ) -> None:
        assert check.model is not None
        super().__init__(
            root, check.model, settings, questions, n_conditions=N_CONDITIONS, option=check.option, load=load
        )
        self._check, self._classes = check, list(classes)
        self._fixed = {"revision": find_current_model_revision(check.model, settings)} if load is None else {}
        self._fixed |= {
            name: value
            for name, value in (("engine", settings.engine), ("dtype", settings.dtype), ("device", settings.device))
            if value != "auto"
        }

    def ask_and_score_pairs(
        self, pairs: Mapping[str, Pair], command: Sequence[str], allowed: AllowedFailures = NO_FAILURES
    ) -> Reading:
        """Ask about the pairs that this model, with this prompt, has not been asked about, and score all of them.

        Parameters
        ----------
        pairs
            Key -> pair.
        command
            The call, for run.json.
        allowed
            How many of the questions may fail.

        Returns
        -------
        The scores, 0 to 1: the smaller probability of entailment of both directions, or the probability of the same
        meaning, mean over both orders.

        Raises
        ------
        InputError
            The model cannot be asked this.
        """
        kind = self._check.kind
        failure = self.ask_about_units_and_return_failure(
            pairs, lambda unread: build_pair_study(kind, unread), command, allowed, noun="pairs of texts"
        )
        score_by_key = {
            key: _score_pair_from_answer_rows(kind, rows)
            for key, rows in self.read_answer_rows_by_unit_key().items()
            if key in pairs
        }
        recorded = self.read_recorded_fields_of_model()
        about = {name: value for name, value in recorded.items() if name not in ("forms", "waver_tuning")}
        return Reading(score_by_key, {"model": self.model.source, **about}, failure)

    def may_reuse_answers_of_recorded_model(self, recorded_fields: Mapping[str, Any]) -> bool:
        """Tell whether recorded answers are of this revision, asked as this call says, with classes of these names."""
        return recorded_fields.get("named_classes", []) == self._classes and all(
            value is None or recorded_fields.get(name) == value for name, value in self._fixed.items()
        )

    def refuse_unfit_engine(self, engine: Engine) -> None:
        """Refuse a model that cannot judge (`PartAsker`), and a classifier whose classes nobody names.

        Raises
        ------
        InputError
            Naming the model and what is wrong with it, or with `--labels`.
        """
        super().refuse_unfit_engine(engine)
        classes = engine.info.get("classes")
        if self._check.kind != ENTAILMENT or classes is None:
            if self._classes:
                raise InputError(f"--labels: {self.model.id} is no classifier of two texts; leave --labels out")
            return
        if self._classes:
            engine.set_class_names(self._classes)  # type: ignore[attr-defined]
        elif any([name.casefold() for name in classes].count(label) != 1 for label in LABELS):
            raise InputError(
                f"{self._option}={self.model.id}: its config.json calls its classes {', '.join(classes)}, which are "
                f"not {', '.join(LABELS)}; say what they mean, in their order, such as --labels {','.join(LABELS)}"
            )


def _score_pair_from_answer_rows(kind: str, rows: Sequence[Mapping[str, Any]]) -> float:
    """Score a pair by its first options under both conditions: the smaller of an entailment, the mean of a judge."""
    probabilities = [float(row["probability"][0]) for row in rows]
    return min(probabilities) if kind == ENTAILMENT else sum(probabilities) / len(probabilities)


def find_current_model_revision(model: Model, settings: Settings) -> str | None:
    """Find the revision that a model has now, without loading it.

    Parameters
    ----------
    model, settings
        The model, and how it is run.

    Returns
    -------
    The commit of a hub model, the digest of a folder; None of a server's model, which tells none.

    Raises
    ------
    InputError
        There is no such model.
    """
    if is_engine_of_server(settings.engine):
        return None
    settings.refuse_missing_model(model)
    from inference.engines.loading import find_commit_of_hub_or_digest_of_folder

    commit, digest = find_commit_of_hub_or_digest_of_folder(model.source, settings.revision)
    return commit or digest
