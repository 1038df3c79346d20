"""mobilevos remove"""

from pathlib import Path

import pytest

from mobilevos.cli.remove import remove
from mobilevos.tracking import Tracker
from tests.cli.command import run_command
from tests.segment.colours import tracker, write_clip


def test_mark_and_remove(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(Tracker, "load", lambda model, runtime, *, queue, size: tracker(size, queue))
    clip = write_clip(tmp_path / "clip.mp4", 6)

    def run(*arguments: object) -> tuple[int, str, str]:
        ran = run_command(remove, [str(a) for a in arguments], monkeypatch, capfd)
        return ran.code, ran.out, ran.err

    code, out, _ = run(clip, "--box", "2,6,24,24", "-o", tmp_path / "out", "--grow", "2")
    assert code == 0
    assert "6 frames, 1 object" in out
    assert "in no frame and was painted" in out
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"masks", "confidence.csv", "removed.mp4", "masks-240p"}

    masks = tmp_path / "out" / "masks"
    assert run(clip, "--masks", masks, "-o", tmp_path / "again")[0] == 0
    assert {p.name for p in (tmp_path / "again").iterdir()} == {"removed.mp4", "masks-240p"}

    for arguments, message in (
        ((clip,), "expected either a folder of --masks, or marks"),
        ((clip, "--masks", masks, "--box", "2,6,24,24"), "expected either"),
        ((clip, "--masks", tmp_path / "none"), "expected a folder of masks"),
        ((tmp_path / "none.mp4", "--masks", masks), "no such file"),
    ):
        code, _, err = run(*arguments, "-o", tmp_path / "bad")
        assert (code, err.count("\n")) == (2, 1)
        assert message in err
        assert not (tmp_path / "bad").exists()
