"""`waver tune nli`: the rows, the splits, the grid, and what a kill leaves."""

from __future__ import annotations

import json
from itertools import product

import pytest

from ground.errors import InputError
from inference.protocols.negation.tune import nli
from inference.protocols.negation.tune.cells import CellResult, CellsFolder, TrainingCell
from inference.stimuli.nli import LABELS, Instance

WORDS = {"entailment": "agree", "contradiction": "disagree", "neutral": "believe"}
ROWS = [
    {"premise": f"We {verb} it with {other} {number}.", "hypothesis": f"They {verb} it.", "label": label}
    for number in range(8)
    for (label, verb), other in product(WORDS.items(), ("bread", "trains"))
]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class TestRows:
    """What is trained on, and what is held out."""

    def test_a_row_that_two_files_have_is_read_once(self, tmp_path):
        first = write(tmp_path / "jnli.jsonl", ROWS[:20])
        negated = [{**ROWS[0], "item": "a"}, {**ROWS[0], "item": "a", "pattern": "p_neg", "premise": "We do not."}]
        second = write(tmp_path / "neg.jsonl", negated)
        assert len(nli.read_tuning_pairs([first, second])) == 21
        assert nli.read_tuning_pairs([second, first])[1].premise == "We do not."

    def test_the_originals_of_jnli_neg_are_rows_of_jnli(self, shared):
        """D_JNLI and D_neg of appendix D.4: 1,177 pairs with a negation (Table 3) beside the 2,434 of JNLI."""
        files = ("jnli-v1.1/valid-v1.1.json", "jnli-neg-v1.1/jnli-neg-valid-v1.1.jsonl")
        assert len(nli.read_tuning_pairs([shared / file for file in files])) == 2434 + 1177

    def test_what_one_file_has_twice_stays_twice(self, tmp_path):
        assert len(nli.read_tuning_pairs([write(tmp_path / "jnli.jsonl", [*ROWS, ROWS[0]])])) == len(ROWS) + 1

    @pytest.mark.parametrize(
        ("rows", "said"), [(ROWS[:6], "6 rows"), ([row for row in ROWS if row["label"] != "neutral"], "label neutral")]
    )
    def test_too_little_is_refused(self, rows, said, tmp_path):
        with pytest.raises(InputError, match=said):
            nli.read_tuning_pairs([write(tmp_path / "few.jsonl", rows)])

    def test_four_fifths_are_trained_on_and_each_seed_draws_others(self):
        splits = [nli.draw_train_and_held_out_row_numbers(101, seed) for seed in range(5)]
        for train, held_out in splits:
            assert len(held_out) == 20 and sorted(train + held_out) == list(range(101))
            assert train != sorted(train)
        assert len({tuple(held_out) for _, held_out in splits}) == 5
        assert nli.draw_train_and_held_out_row_numbers(101, 3) == splits[3]


class Paper:
    """An encoder that writes down what it is asked to train, instead of training."""

    name, revision, settings = "paper", "sha256:0", {"batch": 32}

    def __init__(self, results=None, stop_after=None):
        self.trained: list[TrainingCell] = []
        self.results, self.stop_after = results or {}, stop_after

    def tune_save_and_test_encoder(self, cell, train, held_out, record, to):
        (to / "model.safetensors").write_text(f"half of {cell.name}")
        if len(self.trained) == self.stop_after:
            raise KeyboardInterrupt
        self.trained.append(cell)
        (to / "model.safetensors").write_text(cell.name)
        return self.results.get(cell, CellResult(0.5, 1.0))


GRID = nli.TuningGrid((1e-3, 1e-4), (1, 2))
INSTANCES = [Instance(str(number), "original", f"{number}.", "So.", LABELS[number % 3]) for number in range(20)]


def tuned(encoder, out, seeds=2, grid=GRID, rows=INSTANCES):
    return [
        each for each in nli.train_cells_and_yield_choices(encoder, rows, [out.parent / "a.jsonl"], grid, seeds, out)
        if isinstance(each, nli.ChosenModel)
    ]  # fmt: skip


def left(out):
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


class TestGrid:
    """Every cell once; the best on the held-out rows is kept; a kill loses one cell at most."""

    def test_the_paper_s_grid_is_the_default(self):
        assert len(nli.TuningGrid().list_training_cells_of_seed(0)) == 9
        assert nli.TuningGrid().rates == (5e-5, 3e-5, 2e-5) and nli.TuningGrid().epochs == (3, 4, 5)

    @pytest.mark.parametrize(
        ("results", "best"),
        [
            ({TrainingCell(0, 1e-4, 1): CellResult(0.6, 2.0)}, TrainingCell(0, 1e-4, 1)),
            ({TrainingCell(0, 1e-4, 2): CellResult(0.5, 0.9)}, TrainingCell(0, 1e-4, 2)),
            ({}, TrainingCell(0, 1e-3, 1)),
            (
                {TrainingCell(0, 1e-4, 1): CellResult(0.7, 2.0), TrainingCell(0, 1e-4, 2): CellResult(0.7, 1.0)},
                TrainingCell(0, 1e-4, 2),
            ),
        ],
        ids=["accuracy", "loss", "first", "loss of the most accurate"],
    )
    def test_the_best_is_kept_and_no_other_checkpoint(self, results, best, tmp_path):
        (chosen,) = tuned(Paper(results), tmp_path / "t", seeds=1)
        assert chosen.cell == best and (chosen.folder / "model.safetensors").read_text() == best.name
        assert chosen.folder == tmp_path / "t" / "t-0"
        assert [path.parent.name for path in (tmp_path / "t").rglob("*.safetensors")] == ["t-0"]

    @pytest.mark.parametrize("done", range(9))
    def test_a_stopped_tuning_ends_as_an_undisturbed_one_and_trains_no_cell_twice(self, done, tmp_path):
        results = {
            cell: CellResult(0.5 + place / 10, 1.0) for place, cell in enumerate(GRID.list_training_cells_of_seed(0))
        }
        whole = Paper(results)
        tuned(whole, tmp_path / "whole" / "t")
        stopped, again = Paper(results, stop_after=done), Paper(results)
        out = tmp_path / "stopped" / "t"
        if done < 8:
            with pytest.raises(KeyboardInterrupt):
                tuned(stopped, out)
        else:
            tuned(stopped, out)
        tuned(again, out)
        assert stopped.trained + again.trained == whole.trained
        assert left(out) == left(tmp_path / "whole" / "t")

    @pytest.mark.parametrize("moment", ["choose_best_cell_and_remove_other_checkpoints", "publish_checkpoint"])
    def test_a_kill_between_a_cell_and_what_follows_it_loses_nothing(self, moment, tmp_path, monkeypatch):
        results = {
            cell: CellResult(0.9 - place / 10, 1.0) for place, cell in enumerate(GRID.list_training_cells_of_seed(0))
        }
        tuned(Paper(results), tmp_path / "whole" / "t")

        def killed(self, *arguments):
            raise KeyboardInterrupt

        out, stopped, again = tmp_path / "stopped" / "t", Paper(results), Paper(results)
        with monkeypatch.context() as patched:
            patched.setattr(CellsFolder, moment, killed)
            with pytest.raises(KeyboardInterrupt):
                tuned(stopped, out)
        tuned(again, out)
        assert not set(stopped.trained) & set(again.trained)
        assert left(out) == left(tmp_path / "whole" / "t")

    def test_more_seeds_go_on_and_another_grid_is_refused(self, tmp_path):
        tuned(Paper(), tmp_path / "t", seeds=1)
        more = Paper()
        tuned(more, tmp_path / "t", seeds=3)
        assert {cell.seed for cell in more.trained} == {1, 2}
        with pytest.raises(InputError, match=r"tuning.json: rates was \[0.001, 0.0001\], now \[0.001\]"):
            tuned(Paper(), tmp_path / "t", grid=nli.TuningGrid((1e-3,), (1, 2)))
        with pytest.raises(InputError, match=r"digest was .* choose another --out"):
            tuned(Paper(), tmp_path / "t", rows=[INSTANCES[3], *INSTANCES[:3], *INSTANCES[4:]])

    def test_a_folder_of_something_else_is_refused_and_left_alone(self, tmp_path):
        (tmp_path / "t").mkdir()
        (tmp_path / "t" / "thesis.tex").touch()
        with pytest.raises(InputError, match=r"no tuning .* choose another --out"):
            tuned(Paper(), tmp_path / "t")
        assert set(left(tmp_path)) == {"t/thesis.tex"}

    def test_one_process_at_a_time(self, tmp_path):
        asked = nli.build_nli_tuning_record(Paper(), INSTANCES, [], GRID)
        with CellsFolder(tmp_path / "t", asked), pytest.raises(InputError, match="another process"):
            CellsFolder(tmp_path / "t", asked).__enter__()
