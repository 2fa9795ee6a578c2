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
from inference.engines.loading import load_checkpoint, quiet, transformers_errors_as_input_errors
from inference.engines.local.classifier import TUNING, encode
from inference.protocols.negation.tune.cells import Cell, Result
from inference.stimuli.nli import LABELS, Instance

WARM_UP, LONGEST = 0.1, 128
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
    cut
        Number of rows that have more than `LONGEST` tokens, whose longer sentence is cut.

    Raises
    ------
    InputError
        The model cannot be loaded as a masked one.
    """

    def __init__(self, source: str, name: str, rows: Sequence[Instance], device: str = "auto") -> None:
        checked = load_checkpoint(source, engine="masked", dtype="float32", device="cpu", revision=None, seed=0)
        self.name = name
        self.revision: str = checked.info["revision"]
        self.settings = {"warm_up": WARM_UP, "longest": LONGEST, "batch": BATCH}
        self._source, self._cpu = source, device == "cpu"
        self._tokenizer = checked.tokenizer
        first, second = [each.premise for each in rows], [each.hypothesis for each in rows]
        self.cut = sum(len(ids) > LONGEST for ids in encode(self._tokenizer, first, second)["input_ids"])
        coded = encode(self._tokenizer, first, second, LONGEST)
        self._rows = [
            {**{name: coded[name][place] for name in coded}, "labels": LABELS.index(row.label)}
            for place, row in enumerate(rows)
        ]

    def train(
        self, cell: Cell, train: Sequence[int], held_out: Sequence[int], record: Mapping[str, Any], to: Path
    ) -> Result:
        """Tune the encoder on some rows, save it with a record of how, and try it on the held-out rows.

        Everything random follows from the cell's seed: the weights of the head and the order of the rows.
        """
        model = self._start(cell.seed)
        with quiet():
            settings = TrainingArguments(
                output_dir=str(to),  # the Trainer writes nothing: what is kept is saved below, as safetensors
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
                train_dataset=[self._rows[row] for row in train],
                data_collator=DataCollatorWithPadding(self._tokenizer),
            )
            trainer.remove_callback(PrinterCallback)
            trainer.train()
            predicted = trainer.predict([self._rows[row] for row in held_out])
        logits, right = torch.tensor(predicted.predictions).double(), torch.tensor(predicted.label_ids)
        if not logits.isfinite().all():
            raise RunFailed(f"{cell.name}: the training diverged (NaN); give lower --rates and another --out")
        setattr(model.config, TUNING, {**record, **asdict(cell)})
        try:
            with quiet():
                model.save_pretrained(to)
                self._tokenizer.save_pretrained(to)
        except SafetensorError as error:
            raise RunFailed(f"{to}: cannot be written ({error}); make room, then give the same command again") from None
        return Result(float((logits.argmax(-1) == right).double().mean()), float(cross_entropy(logits, right)))

    def _start(self, seed: int) -> Any:
        """Load the encoder again, with a new head for the labels."""
        torch.manual_seed(seed)
        local = Path(self._source).is_dir()
        with transformers_errors_as_input_errors(self._source), quiet():
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
