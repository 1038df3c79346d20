"""The Android sample: its code compiles against Android and LiteRT, and its pictures have the right colours.

The compiler and what it compiles against come from elsewhere: MOBILEVOS_KOTLIN is the compiler's folder (the package
kotlin-compiler of npm is one), MOBILEVOS_ANDROID a class path of android.jar and LiteRT's classes.
"""

import os
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.docs.pages import ROOT, read_blocks

SAMPLE = ROOT / "examples" / "android"
SOURCES = SAMPLE / "app" / "src" / "main" / "kotlin" / "org" / "mobilevos" / "follow"
COMPILER, CLASSES = os.environ.get("MOBILEVOS_KOTLIN"), os.environ.get("MOBILEVOS_ANDROID")
compiler = pytest.mark.skipif(COMPILER is None, reason="MOBILEVOS_KOTLIN names no Kotlin compiler")
classes = pytest.mark.skipif(CLASSES is None, reason="MOBILEVOS_ANDROID names no classes of Android and LiteRT")

PIXELS = """
import java.nio.ByteBuffer
import org.mobilevos.follow.Pixels
import org.mobilevos.follow.Plane

fun plane(width: Int, height: Int, stride: Int, value: (Int, Int) -> Int): Plane {
    val row = 2 * width * stride
    val bytes = ByteBuffer.allocate(row * height)
    for (y in 0 until height) for (x in 0 until width) bytes.put(row * y + stride * x, value(x, y).toByte())
    return Plane(bytes, row, stride)
}

fun main() {
    // 8 x 4, of which 4 x 4 is taken: black, but red left and blue right in the lower half
    val y = plane(8, 4, 1) { x, y -> if (y < 2) 0 else if (x < 4) 76 else 29 }
    val u = plane(4, 2, 2) { x, y -> if (y < 1) 128 else if (x < 2) 85 else 255 }
    val v = plane(4, 2, 2) { x, y -> if (y < 1) 128 else if (x < 2) 255 else 107 }
    for (turned in listOf(false, true)) {
        val pixels = Pixels(4, 4)
        pixels.take(y, u, v, 8, 4, turned)
        println(pixels.argb.joinToString(" ") { "%06x".format(it and 0xffffff) })
    }
    val marked = Pixels(4, 4).overlaid(FloatArray(16) { if (it == 5) 0.6f else 0.5f })
    println(marked.indices.filter { marked[it] != 0 })
}
"""


def compile_kotlin(target: Path, *sources: Path, options: tuple[str, ...] = ()) -> None:
    jar = Path(str(COMPILER)) / "lib" / "kotlin-compiler.jar"
    command = ["java", "-cp", str(jar), "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-kotlin-home", str(COMPILER)]
    done = subprocess.run([*command, "-Werror", *options, "-d", str(target), *map(str, sources)], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_the_class_of_the_page_is_that_of_the_sample() -> None:
    (block,) = (block for block in read_blocks("docs/deploying.md") if block.title == "ObjectFollower.kt")
    assert (SOURCES / "ObjectFollower.kt").read_text() == f"package org.mobilevos.follow\n\n{block.text.rstrip()}\n"


def test_the_build_says_what_the_page_says() -> None:
    (block,) = (block for block in read_blocks("docs/deploying.md") if block.title == "build.gradle.kts")
    build = (SAMPLE / "app" / "build.gradle.kts").read_text()
    for line in re.findall(r"implementation\(.*\)|noCompress.*\"", block.text):
        assert line in build
    name = "{http://schemas.android.com/apk/res/android}name"
    manifest = ElementTree.parse(SAMPLE / "app" / "src" / "main" / "AndroidManifest.xml")
    (activity,) = manifest.iter("activity")
    assert (SOURCES / f"{activity.get(name, '').removeprefix('.')}.kt").exists()
    assert [entry.get(name) for entry in manifest.iter("uses-permission")] == ["android.permission.CAMERA"]


@pytest.mark.slow
@compiler
@classes
def test_the_sample_compiles(tmp_path: Path) -> None:
    compile_kotlin(tmp_path / "app.jar", *sorted(SOURCES.glob("*.kt")), options=("-no-jdk", "-cp", str(CLASSES)))
    assert (tmp_path / "app.jar").stat().st_size > 10_000


@pytest.mark.slow
@compiler
def test_colours_by_hand(tmp_path: Path) -> None:
    (tmp_path / "Main.kt").write_text(PIXELS)
    compile_kotlin(tmp_path / "pixels.jar", SOURCES / "Pixels.kt", tmp_path / "Main.kt")
    path = f"{tmp_path / 'pixels.jar'}:{Path(str(COMPILER)) / 'lib' / 'kotlin-stdlib.jar'}"
    done = subprocess.run(["java", "-cp", path, "MainKt"], capture_output=True, text=True, check=True)
    upright, turned, marked = done.stdout.splitlines()
    lines = [upright.split()[i : i + 4] for i in range(0, 16, 4)]
    assert lines[:2] == [["000000"] * 4] * 2
    red, blue = (tuple(bytes.fromhex(lines[3][i])) for i in (0, 3))
    assert red[0] > 250
    assert max(red[1:]) < 5
    assert blue[2] > 250
    assert max(blue[:2]) < 5
    assert lines[3] == [lines[3][0]] * 2 + [lines[3][3]] * 2
    assert turned.split() == upright.split()[::-1]
    assert marked == "[5]"
