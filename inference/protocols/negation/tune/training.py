"""Train a classifier of two sentences with the Trainer of transformers; the encoder comes from a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import accelerate  # noqa: F401  # the Trainer needs it, and says so in an error of its own kind
import torch
from safetensors import SafetensorError
from torch.nn.functional import cross_entropy
from transformers import (
    AutoModelForSequenceClassification,
    DataCollatorWithPadding,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)

from ground.errors import RunFailed
from inference.engines.loading import convert_transformers_errors, load_checkpoint, silence_transformers_during_block
from inference.engines.local.classifier import TUNING, encode_pairs
from inference.protocols.negation.tune.cells import CellResult, TrainingCell
from inference.stimuli.nli import LABELS, Instance

WARM_UP, MOST_TOKENS = 0.1, 128
"""Share of the steps over which the learning rate rises, and tokens of a pair (Yoshida et al., Table 6)."""
BATCH = 32
"""Rows per step; the paper does not print how many."""


class Encoder:
    """A masked language model, checked as the engine `masked` checks it, and the rows that it is tuned on.

    Parameters
    ----------
    source
        Folder or hub id of a masked language model with safetensors weights.
    name
        What the records call it.
    rows
        The rows to tune on; cells name them by their place.
    device
        "auto" (an accelerator where there is one) or "cpu".

    Attributes
    ----------
    revision
        Commit or digest of the checkpoint.
    n_cut
        Number of rows that have more than `MOST_TOKENS` tokens, whose longer sentence is cut.

    Raises
    ------
    InputError
        The model cannot be loaded as a masked one.
    """

    def __init__(self, source: str, name: str, rows: Sequence[Instance], device: str = "auto") -> None:
        checkpoint = load_checkpoint(source, engine="masked", dtype="float32", device="cpu", revision=None, seed=0)
        self.name = name
        self.revision: str = checkpoint.info["revision"]
        self.settings = {"warm_up": WARM_UP, "longest": MOST_TOKENS, "batch": BATCH}
        self._source, self._cpu = source, device == "cpu"
        self._tokenizer = checkpoint.tokenizer
        first, second = [pair.premise for pair in rows], [pair.hypothesis for pair in rows]
        self.n_cut = sum(len(ids) > MOST_TOKENS for ids in encode_pairs(self._tokenizer, first, second)["input_ids"])
        encoding = encode_pairs(self._tokenizer, first, second, MOST_TOKENS)
        self._rows = [
            {**{name: encoding[name][place] for name in encoding}, "labels": LABELS.index(row.label)}
            for place, row in enumerate(rows)
        ]

    def tune_save_and_test_encoder(
        self,
        cell: TrainingCell,
        train_rows: Sequence[int],
        held_out_rows: Sequence[int],
        record: Mapping[str, Any],
        folder: Path,
    ) -> CellResult:
        """Tune the encoder on some rows, save it with a record of how, and test it on the held-out rows.

        Everything random follows from the cell's seed: the weights of the head and the order of the rows.

        Parameters
        ----------
        cell
            The seed, the learning rate and the number of epochs.
        train_rows, held_out_rows
            Numbers of the rows.
        record
            What the saved configuration says of the tuning, beside the cell.
        folder
            The folder of the checkpoint.

        Returns
        -------
        Share of right labels and mean cross-entropy (nats) on the held-out rows.

        Raises
        ------
        RunFailed
            The training diverged, or the checkpoint cannot be written.
        """
        model = self._load_with_new_head(cell.seed)
        with silence_transformers_during_block():
            settings = TrainingArguments(
                output_dir=str(folder),  # the Trainer writes nothing: what is kept is saved below, as safetensors
                learning_rate=cell.rate,
                num_train_epochs=cell.epochs,
                warmup_steps=WARM_UP,
                per_device_train_batch_size=BATCH,
                per_device_eval_batch_size=4 * BATCH,
                seed=cell.seed,
                use_cpu=self._cpu,
                save_strategy="no",
                logging_strategy="no",
                report_to="none",
                disable_tqdm=True,
                dataloader_pin_memory=False,
            )
            trainer = Trainer(
                model=model,
                args=settings,
                train_dataset=[self._rows[row] for row in train_rows],
                data_collator=DataCollatorWithPadding(self._tokenizer),
            )
            trainer.remove_callback(PrinterCallback)
            trainer.train()
            predicted = trainer.predict([self._rows[row] for row in held_out_rows])
        logits, right = torch.tensor(predicted.predictions).double(), torch.tensor(predicted.label_ids)
        if not logits.isfinite().all():
            raise RunFailed(f"{cell.name}: the training diverged (NaN); give lower --rates and another --out")
        setattr(model.config, TUNING, {**record, **asdict(cell)})
        try:
            with silence_transformers_during_block():
                model.save_pretrained(folder)
                self._tokenizer.save_pretrained(folder)
        except SafetensorError as error:
            raise RunFailed(
                f"{folder}: cannot be written ({error}); make room, then give the same command again"
            ) from None
        return CellResult(float((logits.argmax(-1) == right).double().mean()), float(cross_entropy(logits, right)))

    def _load_with_new_head(self, seed: int) -> Any:
        """Load the encoder again, with a new head for the labels."""
        torch.manual_seed(seed)
        local = Path(self._source).is_dir()
        with convert_transformers_errors(self._source), silence_transformers_during_block():
            return AutoModelForSequenceClassification.from_pretrained(
                self._source,
                revision=None if local else self.revision,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=torch.float32,
                num_labels=len(LABELS),
                id2label=dict(enumerate(LABELS)),
                label2id={label: place for place, label in enumerate(LABELS)},
            )
