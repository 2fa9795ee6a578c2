"""Run the last layer and the head only at the positions that are read: same numbers, less work.

Only one next-token distribution per prompt is read. The head turns hidden states into scores over the whole vocabulary,
and the feed-forward block is the largest part of the last layer; after the heads of the last attention no position sees
another one. So hooks narrow [rows, tokens, features] to [positions, 1, features] before both, and before the block that
joins these heads, in any architecture. The residual addition after a narrowed block then broadcasts the one position of
a row over all; the sum is right at the position that is read, and the others are thrown away. Of a row that is read at
several positions, each is put back into its place before that addition. A hook stays only if the model gives its own
full output with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

FEED_FORWARD_NAMES = ("mlp", "feed_forward", "ffn", "intermediate", "block_sparse_moe")
# The block that joins the heads of attention; it stands in a module whose name says "att".
ATTENTION_OUTPUT_NAMES = ("output", "o_proj", "out_proj", "c_proj", "dense", "out_lin", "Wo")
# From what is worth most to what is worth least.
PARTS = ("head", "last feed-forward", "last attention output")
# Largest difference of log-probabilities that is rounding: a hook in a wrong place changes them a thousand times more.
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-8}
HALF_PRECISION_TOLERANCE = 0.25


def are_log_probabilities_nearly_equal(a: Tensor, b: Tensor, dtype: torch.dtype) -> bool:
    """Tell whether two log-softmax tensors are equal up to rounding.

    Parameters
    ----------
    a, b
        Log-probabilities of the same shape.
    dtype
        In which the model computed them: its rounding decides how far they may differ (`TOLERANCE`).

    Returns
    -------
    Whether no two numbers differ by more; False where one is NaN.
    """
    return bool((a - b).abs().max() <= TOLERANCE.get(dtype, HALF_PRECISION_TOLERANCE))


class OnePosition:
    """Run a language model and return the log-softmax at one position of every row, or at some.

    Attributes
    ----------
    shortcuts
        The parts of the model that run at these positions only, because a check showed that nothing else changes.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.shortcuts: tuple[str, ...] = ()
        self._at: Tensor | None = None
        self._rows: Tensor | None = None
        self._hooks: list[Any] = []
        for number in range(len(PARTS), -1, -1):
            self.shortcuts = self._replace_hooks_and_list_hooked_parts(PARTS[:number])
            if not self.shortcuts or self._are_hooks_exact():
                return

    def __call__(self, at: Tensor, rows: Tensor | None = None, **inputs: Any) -> Tensor:
        """Compute the log-softmax over the full vocabulary, float32 [positions, vocabulary], at some positions.

        Parameters
        ----------
        at, rows
            The positions that are read, and in which row each is; without `rows` one position of every row.
        """
        self._at, self._rows = at, rows
        try:
            logits = self.model(**inputs).logits
        finally:
            self._at = self._rows = None
        return self._select_positions_of_hidden_states(logits, at, rows)[:, 0].float().log_softmax(-1)

    def compute_log_softmax_of_several_passes(self, passes: Sequence[tuple[Tensor, Mapping[str, Any]]]) -> Tensor:
        """Compute the same for several passes one below the other, with one product of the head if the model allows it.

        Parameters
        ----------
        passes
            `at` and the inputs of each pass.
        """
        if len(passes) == 1 or not self.is_joint_head_exact:
            return torch.cat([self(at, **inputs) for at, inputs in passes])
        return self._compute_log_softmax_with_one_head_run(passes)

    @cached_property
    @torch.inference_mode()
    def is_joint_head_exact(self) -> bool:
        """Whether `compute_log_softmax_of_several_passes` computes one head for several passes, because a trial showed
        the same numbers."""
        if "head" not in self.shortcuts or self.model.base_model is self.model:
            return False
        ids = self._build_token_ids_for_hook_trial()
        mask = torch.ones_like(ids)
        mask[1, 4] = 0
        passes = [(torch.tensor([1, 3], device=ids.device), {"input_ids": ids, "attention_mask": mask}),
                  (torch.tensor([2], device=ids.device), {"input_ids": ids[1:, :3]})]  # fmt: skip
        try:
            joint = self._compute_log_softmax_with_one_head_run(passes)
        except Exception:  # this architecture does not compute its scores from the output of its body alone
            return False
        separate = torch.cat([self(at, **inputs) for at, inputs in passes])
        return joint.shape == separate.shape and are_log_probabilities_nearly_equal(joint, separate, self.model.dtype)

    def _compute_log_softmax_with_one_head_run(self, passes: Sequence[tuple[Tensor, Mapping[str, Any]]]) -> Tensor:
        """Run the body for each pass, then the model once, in which the output of all replaces the body."""
        body = self.model.base_model
        read = []
        for at, inputs in passes:
            try:
                self._at = at
                output = body(**inputs)
            finally:
                self._at = None
            read.append(output.last_hidden_state)
        output.last_hidden_state = torch.cat(read)
        ids = output.last_hidden_state.new_zeros(output.last_hidden_state.shape[:2], dtype=torch.long)
        try:
            setattr(self.model, self.model.base_model_prefix, _FixedBody(output))
            logits = self.model(input_ids=ids).logits
        finally:
            setattr(self.model, self.model.base_model_prefix, body)
        return logits[:, 0].float().log_softmax(-1)

    def compute_logits_at_every_position(self, **inputs: Any) -> Tensor:
        """Compute logits over the full vocabulary at every position, float32 [rows, positions, vocabulary]."""
        logits: Tensor = self.model(**inputs).logits
        return logits.float()

    def remove_hooks(self) -> None:
        """Leave the model as it was: it may belong to somebody who goes on with it."""
        self._replace_hooks_and_list_hooked_parts(())

    def _replace_hooks_and_list_hooked_parts(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """Hook the wanted parts instead of those hooked before; return those that this model has."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        blocks = {part: block for part, block in _find_last_layer_blocks(self.model).items() if part in parts}
        for block in blocks.values():
            self._hooks.append(block.register_forward_pre_hook(self._keep_read_positions_of_input))
            self._hooks.append(block.register_forward_hook(self._scatter_computed_positions_into_row))
        body, head = self.model.base_model, self.model.get_output_embeddings()
        if "head" in parts and body is not self.model:
            self._hooks.append(body.register_forward_hook(self._keep_read_positions_of_output))
        if "head" in parts and head is not None:  # a model may call parts of its body, whose hook then never runs
            self._hooks.append(head.register_forward_pre_hook(self._keep_read_positions_of_input))
        return tuple(part for part in parts if part == "head" or part in blocks)

    def _keep_read_positions_of_output(self, _module: nn.Module, _args: Any, output: Any) -> Any:
        """Keep only the positions that are read in the output of the body (a forward hook)."""
        if self._at is not None and getattr(output, "last_hidden_state", None) is not None:
            output.last_hidden_state = self._select_positions_of_hidden_states(
                output.last_hidden_state, self._at, self._rows
            )
        return output

    def _keep_read_positions_of_input(self, _module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Keep only the positions that are read in the input of a block (a forward hook)."""
        if self._at is None or not args:
            return args
        self._shape = args[0].shape[:2]
        return tuple(
            self._select_positions_of_hidden_states(argument, self._at, self._rows)
            if torch.is_tensor(argument)
            else argument
            for argument in args
        )

    def _scatter_computed_positions_into_row(self, _module: nn.Module, _args: Any, output: Any) -> Any:
        """Put several positions of a row back into their places, where the residual addition needs them."""
        if self._rows is None:
            return output
        if isinstance(output, tuple):  # a block of experts may return its choices of them, too
            return (self._scatter_computed_positions_into_row(_module, _args, output[0]), *output[1:])
        whole = output.new_zeros(*self._shape, output.shape[-1])
        whole[self._rows, self._at] = output[:, 0]
        return whole

    @staticmethod
    def _select_positions_of_hidden_states(hidden: Tensor, at: Tensor, rows: Tensor | None = None) -> Tensor:
        """Keep some positions: [rows, tokens, features] becomes [positions, 1, features].

        Examples
        --------
        Two rows of five tokens, one feature each. Row 0 is read at token 1, row 1 at token 3:

        >>> hidden = torch.tensor([[10, 11, 12, 13, 14], [20, 21, 22, 23, 24]]).unsqueeze(2)
        >>> OnePosition._select_positions_of_hidden_states(hidden, torch.tensor([1, 3])).tolist()
        [[[11]], [[23]]]

        Row 1 is read at the tokens 0 and 3:

        >>> OnePosition._select_positions_of_hidden_states(hidden, torch.tensor([0, 3]), torch.tensor([1, 1])).tolist()
        [[[20]], [[23]]]

        What is narrowed already stays as it is, so a hook may follow another one.
        """
        if hidden.ndim != 3 or hidden.shape[:2] == (len(at), 1):
            return hidden
        rows = torch.arange(len(at), device=at.device) if rows is None else rows
        return hidden[rows, at].unsqueeze(1)

    @torch.inference_mode()
    def _are_hooks_exact(self) -> bool:
        """Tell whether the hooked model gives the numbers of its full output, tried on a few ids."""
        ids = self._build_token_ids_for_hook_trial()
        expected = self.model(input_ids=ids).logits.float().log_softmax(-1)
        places = torch.tensor([[1, 0], [3, 1], [4, 1]], device=ids.device)
        for at, rows in ((places[:2, 0], None), (places[:, 0], places[:, 1])):
            try:
                hooked = self(at, rows, input_ids=ids)
            except (RuntimeError, ValueError, IndexError, TypeError, AttributeError):
                return False  # this architecture needs the full shape somewhere
            narrowed = self._select_positions_of_hidden_states(expected, at, rows)[:, 0]
            if hooked.shape != narrowed.shape or not are_log_probabilities_nearly_equal(
                hooked, narrowed, self.model.dtype
            ):
                return False
        return True

    def _build_token_ids_for_hook_trial(self) -> Tensor:
        """Build a few token ids, two rows of five, on which the hooks are tried."""
        vocabulary = self.model.config.get_text_config().vocab_size
        return torch.linspace(1, vocabulary - 1, 10, device=self.model.device).long().reshape(2, 5)


class _FixedBody(nn.Module):
    """Stands in for the body of a model and returns what bodies have computed before."""

    def __init__(self, output: Any) -> None:
        super().__init__()
        self._output = output

    def forward(self, *_args: Any, **_inputs: Any) -> Any:
        """Return the stored output, whatever the inputs are."""
        return self._output


def _find_last_layer_blocks(model: Any) -> dict[str, nn.Module]:
    """Find the parts that the last layer has, by the names of its blocks, if all layers stand in one list."""
    depth = getattr(model.config.get_text_config(), "num_hidden_layers", None)
    lists = (module for module in model.modules() if isinstance(module, nn.ModuleList) and len(module) == depth)
    last = next((layers[-1] for layers in lists), nn.Module())
    blocks: dict[str, nn.Module] = {}
    for path, module in last.named_modules():
        *outer, name = path.split(".")
        if not outer and name in FEED_FORWARD_NAMES:
            blocks.setdefault("last feed-forward", module)
        elif outer and "att" in outer[0] and name in ATTENTION_OUTPUT_NAMES:
            blocks.setdefault("last attention output", module)
    return blocks
