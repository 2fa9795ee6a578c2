"""A name that no folder has is asked of the hub once, without retries."""

from __future__ import annotations

from pathlib import Path

import huggingface_hub
import pytest

from ground.errors import NoSuchModel
from inference.engines import hub


class _Unreachable:
    """A hub behind a network that is not there; it counts how often it is asked."""

    n_requests = 0

    def model_info(self, name: str, *, revision: str | None, timeout: float) -> None:
        assert timeout <= 3, "a mistyped name fails in seconds"
        type(self).n_requests += 1
        raise RuntimeError(f"Name or service not known: {name} {revision}")


@pytest.fixture
def unreachable(monkeypatch: pytest.MonkeyPatch) -> type[_Unreachable]:
    _Unreachable.n_requests = 0
    hub._explain_why_hub_is_unreachable.cache_clear()
    monkeypatch.setattr(huggingface_hub, "HfApi", _Unreachable)
    return _Unreachable


def test_a_name_that_was_never_downloaded_fails_after_one_request(unreachable: type[_Unreachable]) -> None:
    with pytest.raises(
        NoSuchModel, match=r"model nobody/gtp2: no such folder here, .* the hub cannot be reached \(Name"
    ):
        hub.is_hub_reachable_else_require_cached_model("nobody/gtp2", None)
    assert unreachable.n_requests == 1
    with pytest.raises(NoSuchModel):
        hub.is_hub_reachable_else_require_cached_model("nobody/gtp2", None)
    assert unreachable.n_requests == 2, "the network may be there by now"


def test_a_downloaded_model_needs_no_hub(
    unreachable: type[_Unreachable], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *_, **__: str(tmp_path / "config.json"))
    assert hub.is_hub_reachable_else_require_cached_model("some/model", "main") is False


def test_a_model_that_is_looked_for_again_is_asked_of_the_hub_once_in_a_while(
    unreachable: type[_Unreachable], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1e6]
    monkeypatch.setattr(hub.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *_, **__: "config.json")
    assert [hub.is_hub_reachable_else_require_cached_model("some/model", None) for _ in range(3)] == [False] * 3
    assert unreachable.n_requests == 1
    now[0] += hub.REMEMBERED_SECONDS
    assert hub.is_hub_reachable_else_require_cached_model("some/model", None) is False
    assert unreachable.n_requests == 2


def test_a_hub_that_answers_says_itself_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def model_info(self, *_: object, **__: object) -> None:
            raise ValueError("no name of a model")

    monkeypatch.setattr(huggingface_hub, "HfApi", Refusing)
    assert hub.is_hub_reachable_else_require_cached_model("no name", None) is True


@pytest.mark.parametrize(
    ("name", "is_id"), [("gpt2", True), ("owner/name", True), ("a/b/c", False), ("./x", False), ("~/x", False)]
)
def test_what_looks_like_a_path_is_no_hub_id(name: str, is_id: bool) -> None:
    assert hub.is_hub_id_rather_than_path(name) is is_id


def test_a_folder_that_is_here_is_no_hub_id(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gpt2").mkdir()
    assert not hub.is_hub_id_rather_than_path("gpt2")
