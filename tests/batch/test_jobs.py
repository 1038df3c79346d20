"""The table of jobs."""

import inspect
from pathlib import Path

import pytest

from mobilevos.batch import Job, read_jobs
from mobilevos.batch.jobs import FLAGS, REPEATED, SINGLE
from mobilevos.cli.segment import segment
from mobilevos.errors import InputError


def table(folder: Path, text: str) -> Path:
    (folder / "jobs.csv").write_text(text, encoding="utf-8")
    return folder / "jobs.csv"


def test_options_and_paths(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        "source, output,mask,box,click,format,size\n"
        'a b.mp4,out/a,,"1,2,3,4;5=5,6,7,8",,"masks,alpha",\n'
        "/films/é.mp4,/out/b,m.png;7=2:other/n.png,,,,320\n",
    )
    first, second = read_jobs(path)
    assert first == Job(
        1,
        str(tmp_path / "a b.mp4"),
        tmp_path / "out/a",
        ("--box", "1,2,3,4", "--box", "5=5,6,7,8", "--format", "masks,alpha"),
    )
    assert second.source == "/films/é.mp4"
    masks = ["--mask", str(tmp_path / "m.png"), "--mask", f"7=2:{tmp_path / 'other/n.png'}"]
    assert second.arguments == ["/films/é.mp4", "--output", "/out/b", *masks, "--size", "320", "--resume"]


def test_every_option_of_the_command_has_a_column(tmp_path: Path) -> None:
    """But those for a person who looks on, and those that batch gives itself."""
    known = set(inspect.signature(segment).parameters) - {"source", "output", "resume", "force", "preview", "summary"}
    assert {name.rstrip("_").replace("_", "-") for name in known} == {*REPEATED, *SINGLE, *FLAGS}


def test_options_without_a_value(tmp_path: Path) -> None:
    rows = "a,1,yes,no,True,-2,00:01:00\nb,2,no,yes,,,\n"
    first, second = read_jobs(table(tmp_path, f"source,output,skip-damaged,backward,stop-when-lost,grow,from\n{rows}"))
    assert first.options == (
        "--from",
        "00:01:00",
        "--grow",
        "-2",
        "--skip-damaged",
        "--stop-when-lost",
        "--no-backward",
    )
    assert second.options == ()


def test_masks_whose_names_begin_with_digits(tmp_path: Path) -> None:
    (tmp_path / "3=2.png").touch()
    (job,) = read_jobs(table(tmp_path, "source,output,mask\na,b,0=00000.png;2:1.png;7=3:00007.png;00.png;3=2.png\n"))
    names = ("0=", "00000.png"), ("2:", "1.png"), ("7=3:", "00007.png"), ("", "00.png"), ("", "3=2.png")
    assert job.options[1::2] == tuple(head + str(tmp_path / name) for head, name in names)


def test_empty_names_of_formats_are_left_out(tmp_path: Path) -> None:
    first, second = read_jobs(table(tmp_path, 'source,output,format\na,b,"masks, ,"\nc,d,","\n'))
    assert first.options == ("--format", "masks")
    assert second.options == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected columns source and output"),
        ("source,box\na,b\n", "expected columns source and output"),
        ("source,output\n", "there are no jobs"),
        ("source,output,colour\na,b,c\n", "unknown column 'colour'"),
        ("source,output\na,\n", "line 1 .* has no output"),
        ("source,output,backward\na,b,maybe\n", "expected yes or no for backward in line 1 .*, got maybe"),
        ("source,output,box,box\na,b,c,d\n", "expected each column once in .*, but 'box' is there 2 times"),
        ("source,output\na,x\nb,x\n", "lines 1 and 2 .* same output"),
        ("source,output,format\na,b,masks\nc,d,mask\n", "line 2 .* has the format mask: expected masks, overlay"),
        ("source,output,box\na,b,1,2,3,4\n", "put values with commas in quotes"),
    ],
)
def test_tables_that_make_no_sense(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_jobs(table(tmp_path, text))


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_jobs(tmp_path / "none.csv")
    (tmp_path / "jobs.csv").write_bytes(bytes(range(128, 256)))
    with pytest.raises(InputError, match="is no text"):
        read_jobs(tmp_path / "jobs.csv")
