"""Masks as people bring them: each kind of damage is made from a known mask and must be undone."""

import io
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from mobilevos.errors import InputError
from mobilevos.media.palette import davis_palette
from mobilevos.media.repair import _counted, repair_mask

HEIGHT, WIDTH = 150, 200
BOLD = np.array([[0, 0, 0], [255, 0, 0], [0, 255, 0], [255, 255, 0]], np.uint8)
"""Red and green beside yellow: halfway from one to the other lies the third."""


def shapes(scale: int = 1) -> np.ndarray:
    """Three objects, the largest first, two of them touching: (H, W) uint8, drawn at `scale` times the size."""
    y, x = (np.mgrid[: HEIGHT * scale, : WIDTH * scale] + 0.5) / scale
    ids = np.zeros((HEIGHT * scale, WIDTH * scale), np.uint8)
    ids[(x > 110) & (x < 192.4) & (y > 80) & (y < 142.6)] = 1
    ids[np.hypot(x - 60, y - 55) < 36.3] = 2
    ids[np.hypot(x - 95, y - 65) < 24.7] = 3
    return ids


def soft(colours: np.ndarray) -> np.ndarray:
    """The shapes in colours (4, C), anti-aliased: (H, W, C) uint8."""
    return cv2.resize(colours[shapes(8)], (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)


def lossy(picture: np.ndarray, quality: int) -> Image.Image:
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "JPEG", quality=quality)
    return Image.open(file)


def agreement(ids: np.ndarray, expected: np.ndarray) -> float:
    return float((ids == expected).mean())


def test_clean_masks_pass_unchanged_and_unmentioned() -> None:
    ids = shapes()
    palette = Image.fromarray(ids)
    palette.putpalette(davis_palette().tobytes())
    for image in (palette, Image.fromarray(ids)):
        repaired = repair_mask(image)
        assert np.array_equal(repaired.ids, ids)
        assert repaired.notes == ()


def test_one_bit() -> None:
    ids, notes = repair_mask(Image.fromarray(shapes() > 0))
    assert np.array_equal(ids, shapes() > 0)
    assert notes == ()


def test_zero_and_255() -> None:
    ids, notes = repair_mask(Image.fromarray((shapes() > 0).astype(np.uint8) * 255))
    assert np.array_equal(ids, shapes() > 0)
    assert notes == ("The value 255 was taken as object 1.",)


def test_void_becomes_background() -> None:
    ids = shapes()
    image = Image.fromarray(np.where(ids == 3, 255, ids).astype(np.uint8))
    image.putpalette(davis_palette().tobytes())
    repaired = repair_mask(image)
    assert np.array_equal(repaired.ids, np.where(ids == 3, 0, ids))
    assert "255" in repaired.notes[0]


@pytest.mark.parametrize("gaps", [(0, 1, 2, 3), (0, 5, 9, 200)])
def test_davis_colours_keep_their_ids(gaps: tuple[int, ...]) -> None:
    expected = np.array(gaps, np.uint8)[shapes()]
    ids, notes = repair_mask(Image.fromarray(davis_palette()[expected]))
    assert np.array_equal(ids, expected)
    assert notes == ("The colours of DAVIS were turned into ids.",)


def test_any_colours_largest_object_first() -> None:
    ids, notes = repair_mask(Image.fromarray(BOLD[shapes()]))
    assert np.array_equal(ids, shapes())
    assert notes == ("3 colours became objects, largest first.",)


def test_colours_on_white() -> None:
    colours = np.array([[255, 255, 255], [255, 0, 0], [0, 255, 0], [0, 0, 255]], np.uint8)
    ids, notes = repair_mask(Image.fromarray(colours[shapes()]))
    assert np.array_equal(ids, shapes())
    assert any("border was taken as background" in note for note in notes)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_gray_levels(channels: int) -> None:
    planes = [shapes() * 85] * min(channels, 3) + [np.full((HEIGHT, WIDTH), 255, np.uint8)] * (channels == 4)
    ids, notes = repair_mask(Image.fromarray(np.dstack(planes).squeeze()))
    assert np.array_equal(ids, shapes())
    assert "85, 170, 255" in notes[0]


def test_ids_in_all_three_channels() -> None:
    assert np.array_equal(repair_mask(Image.fromarray(np.dstack([shapes()] * 3))).ids, shapes())


@pytest.mark.parametrize("colours", [BOLD, davis_palette()[:4]], ids=["bold", "davis"])
def test_soft_edges_go_to_a_neighbour(colours: np.ndarray) -> None:
    repaired = repair_mask(Image.fromarray(soft(colours)))
    assert set(np.unique(repaired.ids)) == {0, 1, 2, 3}
    assert agreement(repaired.ids, shapes()) > 0.998
    assert "In-between colours" in repaired.notes[-1]
    # Where red meets green there must be no rim of the yellow object between them.
    rim = (repaired.ids == 1) & (cv2.dilate((shapes() == 1).astype(np.uint8), np.ones((5, 5))) == 0)
    assert not rim.any()


def test_soft_binary() -> None:
    picture = soft(np.array([[0], [255], [255], [255]], np.uint8))
    repaired = repair_mask(Image.fromarray(picture))
    assert agreement(repaired.ids, shapes() > 0) > 0.998


def test_feathered_binary() -> None:
    blurred = cv2.GaussianBlur((shapes() > 0).astype(np.uint8) * 255, (0, 0), 4)
    repaired = repair_mask(Image.fromarray(blurred))
    assert agreement(repaired.ids, shapes() > 0) > 0.985


@pytest.mark.parametrize("quality", [95, 75, 50])
def test_jpeg(quality: int) -> None:
    with lossy(BOLD[shapes()], quality) as image:
        repaired = repair_mask(image)
    assert set(np.unique(repaired.ids)) == {0, 1, 2, 3}
    assert agreement(repaired.ids, shapes()) > 0.997
    with lossy((shapes() > 0).astype(np.uint8) * 255, quality) as image:
        assert agreement(repair_mask(image).ids, shapes() > 0) > 0.999


@pytest.mark.parametrize("kind", ["ids", "full", "instances"])
def test_sixteen_bits(kind: str) -> None:
    wide = shapes().astype(np.uint16)
    values = {"ids": wide, "full": (wide > 0).astype(np.uint16) * 65535, "instances": wide * 1001}[kind]
    ids, notes = repair_mask(Image.fromarray(values))
    assert np.array_equal(ids, shapes() > 0 if kind == "full" else shapes())
    assert "more than 8 bits" in notes[0]


def test_alpha_of_a_photograph_is_one_object() -> None:
    photo = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3)).astype(np.uint8)
    alpha = (shapes() > 0).astype(np.uint8) * 255
    ids, notes = repair_mask(Image.fromarray(np.dstack([photo, alpha])))
    assert np.array_equal(ids, shapes() > 0)
    assert notes == ("The opaque part became object 1.",)


def test_painted_on_transparency() -> None:
    alpha = (shapes() > 0).astype(np.uint8) * 255
    ids, notes = repair_mask(Image.fromarray(np.dstack([BOLD[shapes()], alpha])))
    assert np.array_equal(ids, shapes())
    assert "transparent" in notes[0]
    black = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    assert np.array_equal(repair_mask(Image.fromarray(np.dstack([black, alpha]))).ids, shapes() > 0)


def test_palette_of_an_editor_is_read_by_its_colours() -> None:
    image = Image.fromarray(soft(BOLD)).quantize(64)
    ids, notes = repair_mask(image)
    assert agreement(ids, shapes()) > 0.997
    assert "palette" in notes[0]


@pytest.mark.parametrize("kind", ["colour", "davis", "white"])
def test_one_pixel_is_an_object(kind: str) -> None:
    dot = np.zeros((40, 40), np.uint8)
    dot[7, 9] = 1
    picture = {"colour": BOLD[dot], "davis": davis_palette()[dot], "white": dot * 255}[kind]
    assert np.array_equal(repair_mask(Image.fromarray(picture)).ids, dot)


def test_small_soft_dot_is_one_object() -> None:
    dot = np.zeros((40, 40), np.uint8)
    dot[10:12, 10:12] = 255
    dot[9, 10:12] = dot[12, 10:12] = 120
    ids, _ = repair_mask(Image.fromarray(dot))
    assert set(np.unique(ids)) == {0, 1}
    assert (ids[10:12, 10:12] == 1).all()


@pytest.mark.parametrize("value", [0, 255])
def test_no_object(value: int) -> None:
    for picture in (np.full((9, 9), value, np.uint8), np.full((9, 9, 3), value, np.uint8)):
        with pytest.raises(InputError, match="at least one object"):
            repair_mask(Image.fromarray(picture))


def test_more_than_255_objects() -> None:
    stripes = np.repeat(np.arange(300), 4)[:, None].repeat(30, axis=1)
    with pytest.raises(InputError, match="at most 255 objects"):
        repair_mask(Image.fromarray(stripes.astype(np.uint16)))
    colours = np.stack([stripes % 256, stripes // 256, stripes * 0], axis=-1).astype(np.uint8)
    with pytest.raises(InputError, match="at most 255 objects"):
        repair_mask(Image.fromarray(colours))


def test_photographs_are_refused(shared_data: Path) -> None:
    for path in sorted((shared_data / "duts" / "images").iterdir())[:400:40]:
        with Image.open(path) as image, pytest.raises(InputError, match=r"photograph|at most 255"):
            repair_mask(image)


def test_real_masks_pass(shared_data: Path) -> None:
    for path in sorted((shared_data / "voc-objects" / "masks").iterdir())[:10]:
        with Image.open(path) as image:
            expected = np.array(image)
            assert np.array_equal(repair_mask(image).ids, np.where(expected == 255, 0, expected))


@pytest.mark.parametrize(("channels", "highest"), [(1, 255), (3, 255), (1, 65535), (1, 1 << 30)])
def test_colours_are_counted_as_by_sorting(channels: int, highest: int) -> None:
    rng = np.random.default_rng(0)
    few = rng.integers(0, highest, (40, channels), np.int32, endpoint=True)
    pixels = few[rng.integers(0, 40, (30, 50))]
    colours, index = np.unique(pixels.reshape(-1, channels), axis=0, return_inverse=True)
    found, at = _counted(pixels)
    np.testing.assert_array_equal(found, colours)
    np.testing.assert_array_equal(at, index.reshape(30, 50))
