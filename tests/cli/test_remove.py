"""mobilevos remove"""

import shutil
from pathlib import Path

import pytest

from mobilevos.cli.remove import remove
from mobilevos.tracking import Tracker
from tests.cli.command import run_command
from tests.pipeline.colours import tracker, write_clip


def test_mark_and_remove(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(Tracker, "load", lambda model, runtime, *, queue, size, window: tracker(size, queue))
    clip = write_clip(tmp_path / "clip.mp4", 6)

    def run(*arguments: object) -> tuple[int, str, str]:
        ran = run_command(remove, [str(a) for a in arguments], monkeypatch, capfd)
        return ran.code, ran.out, ran.err

    code, out, _ = run(clip, "--box", "2,6,24,24", "-o", tmp_path / "out", "--grow", "2")
    assert code == 0
    assert "6 frames, 1 object" in out
    assert "in no frame and was painted" in out
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        ".again",
        "masks",
        "confidence.csv",
        ".finished.json",
        "removed.mp4",
        "masks-240p",
        ".removed.json",
    }

    masks = tmp_path / "out" / "masks"
    assert run(clip, "--masks", masks, "-o", tmp_path / "again")[0] == 0
    assert {p.name for p in (tmp_path / "again").iterdir()} == {"removed.mp4", "masks-240p", ".removed.json"}

    for arguments, message in (
        ((clip,), "expected either a folder of --masks, or marks"),
        ((clip, "--masks", masks, "--box", "2,6,24,24"), "expected either"),
        ((clip, "--masks", tmp_path / "none"), "expected a folder of masks"),
        ((tmp_path / "none.mp4", "--masks", masks), "no such file"),
        ((clip, "--masks", masks, "--grow", "100000"), "cannot grow masks by 100000 pixels"),
    ):
        code, _, err = run(*arguments, "-o", tmp_path / "bad")
        assert (code, err.count("\n")) == (2, 1)
        assert message in err
        assert not (tmp_path / "bad").exists()


def test_going_on_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Tracker, "load", lambda model, runtime, *, queue, size, window: tracker(size, queue))
    clip, out = write_clip(tmp_path / "clip.mp4", 6), tmp_path / "out"

    def run(*arguments: object) -> tuple[int, str, str]:
        ran = run_command(remove, [str(a) for a in (clip, "-o", out, *arguments)], monkeypatch, capfd)
        return ran.code, ran.out, ran.err

    marks = ("--box", "2,6,24,24")
    assert run(*marks)[0] == 0
    assert run(*marks, "--resume") == (0, f"{out} is complete already.\n", "")
    code, _, err = run("--box", "2,6,20,24", "--resume")
    assert (code, err.count("\n")) == (2, 1)
    assert "was made otherwise: its first marks were others" in err

    (out / "removed.mp4").unlink()  # as if killed while removing
    (out / ".removed.json").unlink()
    (out / ".future").mkdir()
    code, said, _ = run(*marks, "--resume")
    assert code == 0
    assert "1 object" not in said  # the masks were there
    assert "6 frames; " in said
    assert not (out / ".future").exists()

    shutil.rmtree(out / "masks")
    (out / "confidence.csv").unlink()
    code, _, err = run(*marks)
    assert code == 2
    assert "removed.mp4 exists already" in err
    assert not (out / "masks").exists()  # said before the objects are followed
