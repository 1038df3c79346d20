"""What `tools.fuzz` feeds: its seeds are read, and an error that is not ours comes through."""

from __future__ import annotations

from pathlib import Path

import pytest

from mobilevos.errors import InputError
from tools.fuzz import TARGETS, in_one_line


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_seeds_and_damaged_seeds_have_an_answer(tmp_path: Path, name: str) -> None:
    target, seeds = TARGETS[name](tmp_path)
    assert seeds
    for seed in seeds:
        for data in (seed, seed[: len(seed) // 2], seed[::-1], seed + b"\xff"):
            target(data)


def test_other_errors_come_through() -> None:
    def broken() -> None:
        raise ZeroDivisionError

    def two_lines() -> None:
        raise InputError("one\ntwo")

    with pytest.raises(ZeroDivisionError):
        in_one_line(broken)
    with pytest.raises(AssertionError, match="one clear line"):
        in_one_line(two_lines)
