"""Train a LoRA adapter with trl's SFTTrainer and peft: loss on the reply only, as trl does for prompts with replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from datasets import Dataset
from peft import LoraConfig
from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING
from safetensors import SafetensorError
from transformers import PrinterCallback
from trl import SFTConfig

from ground.errors import InputError, RunFailed
from inference.asking.models import Model
from inference.engines.lefttoright import LeftToRight
from inference.engines.loading import (
    convert_transformers_errors,
    load_checkpoint,
    resolve_device,
    silence_transformers_during_block,
)
from inference.engines.local.causal import CausalEngine
from inference.protocols.choice.tune.checkpoints import AdapterFolder
from inference.protocols.choice.tune.examples import Example
from inference.protocols.choice.tune.settings import DEFAULT_MODULES
from inference.protocols.choice.tune.trainer import (
    CheckpointCallback,
    ProgressCallback,
    QuietTrainer,
    build_loss_history,
    has_finite_losses,
)

IGNORED_LABEL = -100  # label of a token that is not learnt
CANNOT_WRITE = "PytorchStreamWriter"  # in the message of torch where a disk is full


class Learner:
    """A causal model, checked as the engine `causal` checks it, that learns replies to prompts.

    It reads a prompt as the engine shows it, token for token; behind it come the reply and the token that ends it.

    Parameters
    ----------
    model
        The model; its weights are safetensors.
    settings
        As `settings.read_tuning_settings` returns them.
    device
        "auto" (an accelerator where there is one) or "cpu".

    Attributes
    ----------
    revision, dtype
        Commit or digest of the checkpoint; what it is computed in: float32 on a CPU, else bfloat16.
    too_long
        Number of examples left out because they exceed the model's window.

    Raises
    ------
    InputError
        The model cannot be loaded as a causal one, or not in 4 bits; it has no such layers to adapt; or there are
        several GPUs.
    """

    def __init__(self, model: Model, settings: Mapping[str, Any], device: str = "auto") -> None:
        target = resolve_device(device)
        _refuse_several_gpus(target)
        self._settings, self._cpu = settings, target.type == "cpu"
        self.dtype = "float32" if self._cpu else "bfloat16"
        self._checkpoint = load_checkpoint(
            model.source,
            engine="causal",
            dtype=self.dtype,
            device=device,
            revision=model.fields.get("revision"),
            seed=settings["seed"],
            quantization=_build_four_bit_config(target) if settings["four_bit"] else None,
        )
        self.revision: str = self._checkpoint.info["revision"]
        _refuse_adapter_layers_not_in_model(model, self._checkpoint.model, settings["target_modules"])
        self._base = model.id if self._checkpoint.info["revision"].startswith("sha256:") else model.source
        with convert_transformers_errors(model.source):
            self._reader: LeftToRight = CausalEngine(self._checkpoint)
        self.too_long = 0

    def has_text_ended_before_limit(self, text: str, max_new_tokens: int) -> bool:
        """Tell whether a text ended by itself, and was not cut at its longest.

        Parameters
        ----------
        text
            What the model wrote.
        max_new_tokens
            The most tokens that it could write.

        Returns
        -------
        Whether the text has fewer tokens than that.
        """
        return len(self._reader.tokens.bare([text])[0]) < max_new_tokens

    def encode_examples(self, examples: Sequence[Example]) -> list[dict[str, list[int]]]:
        """Turn examples into tokens and labels; those that are too long are left out and counted.

        Raises
        ------
        InputError
            All of them are too long, or the tokenizer has no token that ends a text.
        """
        tokens, end = self._reader.tokens, self._find_end_token()
        rows = []
        for example in examples:
            text = tokens.render(example.prompt)
            (prompt,) = tokens.encode([text], [example.prompt.messages is not None])
            reply = [*tokens.bare([example.reply])[0], end]
            if self._reader.window is not None and len(prompt) + len(reply) > self._reader.window:
                self.too_long += 1
                continue
            rows.append({"input_ids": prompt + reply, "labels": [IGNORED_LABEL] * len(prompt) + reply})
        if not rows:
            raise InputError(
                f"model {self._checkpoint.name}: each example exceeds its context window of "
                f"{self._reader.window:,} tokens; ask for shorter texts (--max-tokens)"
            )
        return rows

    def train_adapter(
        self,
        rows_by_split: Mapping[str, Sequence[Mapping[str, list[int]]]],
        folder: AdapterFolder,
        print_line: Callable[[str], None],
    ) -> None:
        """Train, or go on from the last checkpoint, and publish the best adapter in the folder.

        Parameters
        ----------
        rows_by_split
            "train" and "validation" -> what `encode_examples` returned.
        folder
            Where checkpoints and the adapter are written.
        print_line
            Is given a line per evaluation.

        Raises
        ------
        InputError
            The last checkpoint is damaged.
        RunFailed
            The training diverges, or device or disk is too small.
        """
        last = folder.find_last_checkpoint()
        torch.manual_seed(self._settings["seed"])  # of the matrices' first values
        with silence_transformers_during_block():
            trainer = QuietTrainer(
                model=self._checkpoint.model,
                args=self._build_training_arguments(folder),
                train_dataset=Dataset.from_list(list(rows_by_split["train"])),
                eval_dataset=Dataset.from_list(list(rows_by_split["validation"])),
                processing_class=self._checkpoint.tokenizer,
                peft_config=self._build_lora_config(),
                callbacks=[CheckpointCallback(folder), ProgressCallback(print_line)],
            )
            trainer.remove_callback(PrinterCallback)
            try:
                trainer.train(resume_from_checkpoint=str(last) if last else None)
            except torch.OutOfMemoryError:
                raise RunFailed(f"{folder.path}: the device has too little memory; set four_bit in --config") from None
            except (SafetensorError, RuntimeError) as error:
                if isinstance(error, RuntimeError) and CANNOT_WRITE not in str(error):
                    raise
                reason = "no room for a checkpoint" if CANNOT_WRITE in str(error) else error
                raise RunFailed(
                    f"{folder.path}: cannot be written ({reason}); make room, then give the same command again"
                ) from None
        state = trainer.state
        if state.best_global_step is None or not has_finite_losses(state.log_history):
            raise RunFailed(f"{folder.path}: the training diverged (NaN); lower learning_rate, give another --out")
        folder.save_best_adapter_and_remove_checkpoints(
            state.best_global_step, self._base, build_loss_history(state.log_history)
        )

    def _find_end_token(self) -> int:
        """Find the token that ends a reply: what the chat template writes behind one, else EOS."""
        eos = self._checkpoint.tokenizer.eos_token_id
        ends = self._reader.tokens.ends
        if not ends:
            raise InputError(
                f"model {self._checkpoint.name}: its tokenizer has no token that ends a text; give it an EOS"
            )
        return min(ends - {eos} or ends)

    def _build_lora_config(self) -> LoraConfig:
        """Set up the adapter (Choi, Table 7)."""
        modules = self._settings["target_modules"]
        return LoraConfig(
            r=self._settings["r"],
            lora_alpha=self._settings["lora_alpha"],
            lora_dropout=self._settings["lora_dropout"],
            target_modules=None if modules == DEFAULT_MODULES else modules,
            bias="none",
            task_type="CAUSAL_LM",
        )

    def _build_training_arguments(self, folder: AdapterFolder) -> SFTConfig:
        """Set up the training (Choi, Table 6); nothing is sent anywhere."""
        settings = self._settings
        copied_names = (
            "seed", "learning_rate", "lr_scheduler_type", "per_device_train_batch_size", "per_device_eval_batch_size",
            "gradient_accumulation_steps", "weight_decay", "max_grad_norm", "logging_steps", "eval_steps",
            "num_train_epochs",
        )  # fmt: skip
        return SFTConfig(
            output_dir=str(folder.checkpoints_folder),
            **{name: settings[name] for name in copied_names},
            warmup_steps=settings["warmup_ratio"],  # below 1, it is a share of all steps
            eval_strategy="steps",
            save_strategy="steps",
            save_steps=settings["eval_steps"],
            save_total_limit=None,  # `AdapterFolder.mark_checkpoint_whole_and_remove_others` removes them
            logging_strategy="steps",
            metric_for_best_model="eval_loss",
            greater_is_better=False,
            bf16=not self._cpu,
            fp16=False,
            use_cpu=self._cpu,
            gradient_checkpointing=not self._cpu,
            dataset_kwargs={"skip_prepare_dataset": True},  # tokens and labels are ours
            max_length=None,
            report_to="none",
            push_to_hub=False,
            disable_tqdm=True,
            dataloader_pin_memory=False,
        )


def _refuse_several_gpus(device: torch.device) -> None:
    """Refuse several GPUs in one process, which trl does not train on."""
    if device.type == "cuda" and torch.cuda.device_count() > 1:
        raise InputError(
            f"there are {torch.cuda.device_count()} GPUs, and a training takes one: set CUDA_VISIBLE_DEVICES"
        )


def _refuse_adapter_layers_not_in_model(asked_model: Model, model: Any, target_modules: str | Sequence[str]) -> None:
    """Refuse names of layers that the model has not, and an architecture for which peft has no default."""
    kind = model.config.model_type
    if target_modules == DEFAULT_MODULES and kind not in TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING:
        raise InputError(
            f"model {asked_model.id}: peft has no target_modules for {kind}; name some in --config, or say all-linear"
        )
    names = [name for name, _ in model.named_modules()]
    for layer in [] if isinstance(target_modules, str) else target_modules:
        if not any(name == layer or name.endswith(f".{layer}") for name in names):
            raise InputError(
                f"model {asked_model.id}: it has no layer '{layer}' (target_modules in --config); correct it"
            )


def _build_four_bit_config(device: torch.device) -> Any:
    """Set up 4 bits, as transformers describes them; InputError without a CUDA device or bitsandbytes."""
    if device.type != "cuda":
        raise InputError(f"four_bit = true needs a CUDA device, this is {device.type}; set it to false in --config")
    try:
        import bitsandbytes  # noqa: F401
    except ImportError:
        raise InputError("four_bit = true needs the package bitsandbytes: pip install bitsandbytes") from None
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16)
