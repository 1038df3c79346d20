"""Lays out training data of public repositories: photos with masks, and clips in DAVIS' layout.

python -m tools.sources COPIES DATA
python -m tools.sources COPIES DATA duts-full mots

COPIES holds a bare git folder of each repository, OWNER+NAME or OWNER+NAME/repo. What the sets are is in
docs/training-log.md. Sets that are there already are left alone; each is there whole or not at all.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated
from xml.etree import ElementTree

import cv2
import numpy as np
from PIL import Image

from mobilevos.arrays import VOID, Ids
from mobilevos.errors import InputError
from mobilevos.media.masks import write_mask

SHORT_SIDE = 480
QUALITY = 92
LEAST, MOST = 0.004, 0.5
"""Of the picture that a mask covers; others teach little."""
WHOLE = 0.95
"""Of a mask that its largest piece is, where it is taken for one thing."""
CLIP = 60
"""Frames into which long films are cut."""

Pair = tuple[np.ndarray, Ids]
"""(H, W, 3) RGB and (H, W) ids, `VOID` where nobody knows"""


class Copy:
    """The files of a commit of a repository, without a work tree."""

    def __init__(self, copies: Path, repository: str, commit: str) -> None:
        folder = copies / repository.replace("/", "+")
        places = [folder / "repo" / ".git", folder / "repo", folder]
        found = [place for place in places if (place / "HEAD").is_file()]
        if not found:
            raise InputError(f"expected a git folder of {repository} in {folder}")
        git = ["git", "--git-dir", str(found[0])]
        listed = subprocess.run([*git, "ls-tree", "-r", "-z", commit], capture_output=True, check=False)
        if listed.returncode:
            raise InputError(f"there is no commit {commit} of {repository} in {found[0]}")
        entries = (entry.split(b"\t", 1) for entry in listed.stdout.split(b"\0") if entry)
        self.files = {name.decode(errors="replace"): head.split()[2].decode() for head, name in entries}
        """Path to name of the blob"""
        self._reader = subprocess.Popen([*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Copy:
        return self

    def __exit__(self, *error: object) -> None:
        self._reader.communicate()

    def __getitem__(self, path: str) -> bytes | None:
        """What a file holds; None where it is not in the copy."""
        asked, answer = self._reader.stdin, self._reader.stdout
        if path not in self.files or asked is None or answer is None:
            return None
        asked.write(f"{self.files[path]}\n".encode())
        asked.flush()
        head = answer.readline().split()
        if head[-1] == b"missing":
            return None
        data = answer.read(int(head[2]))
        answer.read(1)
        return data

    def below(self, folder: str, *endings: str) -> list[str]:
        """Paths in a folder, in order."""
        found = (path for path in self.files if path.startswith(f"{folder}/") and path.endswith(endings))
        return sorted(path for path in found if "/._" not in path)  # what macOS leaves behind

    def picture(self, path: str) -> np.ndarray | None:
        """(H, W, 3) RGB."""
        data = self[path]
        return None if data is None else np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    def labels(self, path: str) -> np.ndarray | None:
        """(H, W), the numbers of a picture of labels."""
        data = self[path]
        if data is None:
            return None
        labels = np.asarray(Image.open(io.BytesIO(data)))
        return labels[..., 0] if labels.ndim == 3 else labels

    def white(self, path: str) -> Ids | None:
        """(H, W), 1 where a picture is light."""
        labels = self.labels(path)
        if labels is None:
            return None
        return (labels >= (128 if labels.max() > 1 else 1)).astype(np.uint8)


Photos = Callable[[Path], Iterator[tuple[str, np.ndarray | None, np.ndarray | None]]]
Clips = Callable[[Path], Iterator[tuple[str, list[Pair]]]]


def salient(repository: str, commit: str, *folders: tuple[str, str], name: Callable[[str], str] = str) -> Photos:
    """Photos `<images>/X.jpg` with white objects in `<masks>/X.png`."""

    def pairs(copies: Path) -> Iterator[tuple[str, np.ndarray | None, np.ndarray | None]]:
        with Copy(copies, repository, commit) as copy:
            for images, masks in folders:
                for path in copy.below(images, ".jpg", ".png"):
                    stem = path.removeprefix(f"{images}/").rpartition(".")[0]
                    if path == f"{masks}/{name(stem)}.png":
                        continue  # it is a mask itself
                    mask = copy.white(f"{masks}/{name(stem)}.png")
                    yield f"{images.split('/')[0]}-{stem}".replace("/", "-"), copy.picture(path), mask

    return pairs


def instances(
    repository: str, commit: str, images: str, masks: str, name: Callable[[str], str] = str, ending: str = ".jpg"
) -> Photos:
    """Photos whose masks number their objects."""

    def pairs(copies: Path) -> Iterator[tuple[str, np.ndarray | None, np.ndarray | None]]:
        with Copy(copies, repository, commit) as copy:
            for path in copy.below(masks, ".png"):
                stem = name(Path(path).stem)
                yield stem, copy.picture(f"{images}/{stem}{ending}"), copy.labels(path)

    return pairs


def pets(copies: Path) -> Iterator[tuple[str, np.ndarray | None, np.ndarray | None]]:
    """The band along the outline is void; pictures are squeezed into squares there, trimaps have their true shape."""
    with Copy(copies, "guebin/oxford-pets-cascam", "6d71b82d") as copy:
        for path in copy.below("annotations/trimaps", ".png"):
            trimap, picture = copy.labels(path), copy.picture(f"original/{Path(path).stem}.jpg")
            if trimap is None or picture is None:
                continue
            ids = np.where(trimap == 1, 1, np.where(trimap == 3, VOID, 0)).astype(np.uint8)
            factor = min(1.0, picture.shape[0] / max(ids.shape))
            size = round(ids.shape[1] * factor), round(ids.shape[0] * factor)
            yield Path(path).stem, _resized(picture, size), cv2.resize(ids, size, interpolation=cv2.INTER_NEAREST)


def clothes(copies: Path) -> Iterator[tuple[str, np.ndarray | None, np.ndarray | None]]:
    """Whatever is worn or skin is the person."""
    from scipy.io import loadmat  # type: ignore[import-untyped,unused-ignore]

    with Copy(copies, "bearpaw/clothing-co-parsing", "fe34fb77") as copy:
        for path in copy.below("annotations/pixel-level", ".mat"):
            if (data := copy[path]) is not None:
                worn = (loadmat(io.BytesIO(data))["groundtruth"] > 0).astype(np.uint8)
                yield Path(path).stem, copy.picture(f"photos/{Path(path).stem}.jpg"), worn


def people(copies: Path) -> Iterator[tuple[str, np.ndarray | None, np.ndarray | None]]:
    """Photos whose people are one piece: one mask there has all of them. Those called dual are of several."""
    with Copy(copies, "make-j64/people_segmentation", "b2f942b6") as copy:
        for path in copy.below("masks", ".png"):
            mask = None if "_dual" in path else copy.white(path)
            if mask is not None and _is_one_piece(mask):
                yield Path(path).stem, copy.picture(f"images/{Path(path).stem}.jpg"), mask


def _is_one_piece(mask: Ids) -> bool:
    areas = cv2.connectedComponentsWithStats(mask)[2][1:, cv2.CC_STAT_AREA]
    return bool(len(areas)) and areas.max() >= WHOLE * areas.sum()


def voc_classes(copies: Path) -> Iterator[tuple[str, np.ndarray | None, np.ndarray | None]]:
    """Photos of PASCAL VOC 2012 whose masks (those of SBD) tell kinds only: what is alone of its kind."""
    voc = Copy(copies, *VOC_COPY)
    with voc, Copy(copies, "zzq96/Nested-unet", "57e85f68") as masks:
        for path in masks.below("SegmentationClassAug", ".png"):
            stem = Path(path).stem
            boxes, kinds = voc[f"{VOC}/Annotations/{stem}.xml"], masks.labels(path)
            if f"{VOC}/SegmentationObject/{stem}.png" in voc.files or boxes is None or kinds is None:
                continue
            yield stem, voc.picture(f"{VOC}/JPEGImages/{stem}.jpg"), _alone(kinds, boxes)


def _alone(kinds: np.ndarray, boxes: bytes) -> Ids:
    """Kinds (H, W), which the file of boxes counts; what is alone of its kind 1 .. N, the others void."""
    names = Counter(thing.findtext("name") for thing in ElementTree.fromstring(boxes).iter("object"))
    ids = np.where(kinds > 0, np.uint8(VOID), np.uint8(0))
    count = 0
    for kind, name in enumerate(VOC_KINDS, 1):
        if names[name] == 1 and (kinds == kind).any():
            count += 1
            ids[kinds == kind] = count
    return ids


def mots(copies: Path) -> Iterator[tuple[str, list[Pair]]]:
    """The six largest people of each clip; others that are labelled are void."""
    root = "dataset/MOTSChallenge/train"
    with Copy(copies, "jtzanetatos/MOTSChallenge2020", "0b5b8fe5") as copy:
        for film in ("0002", "0005", "0009", "0011"):
            paths = copy.below(f"{root}/instances/{film}", ".png")
            for start in range(0, len(paths) - CLIP // 3, CLIP):
                pairs: list[Pair] = []
                chosen: list[int] = []
                for path in paths[start : start + CLIP]:
                    labels, picture = copy.labels(path), copy.picture(f"{root}/images/{film}/{Path(path).stem}.jpg")
                    if labels is None or picture is None:
                        continue
                    if not pairs:
                        numbers, areas = np.unique(labels[labels // 1000 == 2], return_counts=True)
                        chosen = [int(number) for number in numbers[np.argsort(-areas)][:6]]
                    ids = np.where(labels > 0, VOID, 0).astype(np.uint8)
                    for identity, number in enumerate(chosen, 1):
                        ids[labels == number] = identity
                    pairs.append((picture, ids))
                yield f"mots-{film}-{start // CLIP:02d}", pairs


def ycbv(copies: Path) -> Iterator[tuple[str, list[Pair]]]:
    """Things on a table, seen by a camera that is carried around it."""
    with Copy(copies, "fabianseiler/ZS6D", "283f9fc1") as copy:
        for truth in copy.below("test", "/scene_gt.json"):
            scene = truth.rpartition("/")[0]
            things = json.loads(copy[truth] or b"{}")
            known = sorted({thing["obj_id"] for frame in things.values() for thing in frame})
            pairs: list[Pair] = []
            for path in copy.below(f"{scene}/rgb", ".png", ".jpg"):
                picture, number = copy.picture(path), Path(path).stem
                if picture is None or str(int(number)) not in things:
                    continue
                ids = np.zeros(picture.shape[:2], np.uint8)
                for index, thing in enumerate(things[str(int(number))]):
                    if (mask := copy.white(f"{scene}/mask_visib/{number}_{index:06d}.png")) is not None:
                        ids[mask > 0] = 1 + known.index(thing["obj_id"])
                pairs.append((picture, ids))
            yield f"ycbv-{Path(scene).name}", pairs


def segtrack(copies: Path) -> Iterator[tuple[str, list[Pair]]]:
    """Five old clips one after the other."""
    root = "Data/inputs/SegTrack"
    with Copy(copies, "chengshengchan/FastVideoSegmentation", "b0cd065b") as copy:
        starts = {"birdfall": 1, "cheetah": 31, "girl": 60, "monkeydog": 81, "parachute": 152}
        for (name, first), end in zip(starts.items(), [*list(starts.values())[1:], 203], strict=True):
            read = [
                (copy.picture(f"{root}/{n:08d}.jpg"), copy.white(f"{root}/GroundTruth/{n:08d}.png"))
                for n in range(first, end)
            ]
            yield (
                f"segtrack-{name}",
                [(picture, ids) for picture, ids in read if picture is not None and ids is not None],
            )


def _named(stem: str) -> str:
    return stem.replace("horse_t", "mask_t")


DUTS = [(f"DUTS-{part}/DUTS-{part}-Image", f"DUTS-{part}/DUTS-{part}-Mask") for part in ("TR", "TE")]
VOC, VOC_COPY = "VOCdevkit/VOC2012", ("nader-bitstrapped-com/pascal-voc-2012", "df6238e6")
VOC_KINDS = [
    "aeroplane",
    "bicycle",
    "bird",
    "boat",
    "bottle",
    "bus",
    "car",
    "cat",
    "chair",
    "cow",
    "diningtable",
    "dog",
    "horse",
    "motorbike",
    "person",
    "pottedplant",
    "sheep",
    "sofa",
    "train",
    "tvmonitor",
]
PHOTOS: dict[str, Photos] = {
    "duts-full": salient("coangquang/CVVin23", "fe59fe7e", *DUTS),
    "voc-full": instances(*VOC_COPY, f"{VOC}/JPEGImages", f"{VOC}/SegmentationObject"),
    "voc-alone": voc_classes,
    "people": people,
    "cub": salient("ck-amrahd/birds", "861e91ac", ("data/images", "data/segmentations")),
    "pets": pets,
    "hkuis": salient("unbelievablehuman/Saliency_Detection", "d3735fb3", ("data/HKU-IS/imgs", "data/HKU-IS/gt")),
    "ccp": clothes,
    "ecssd": salient("yunusgunay/Salient-Object-Segmentation", "68cf2a2f", ("data/images", "data/ground_truth_mask")),
    "horses": salient("ZJW-HUST/Deeplab-Weizmann-Horse", "9e226a49", ("weizmann_horse_db",) * 2, name=_named),
    "pennfudan": instances(
        "gmguarino/PennFudan",
        "4d34ade8",
        "data/PennFudanPed/PNGImages",
        "data/PennFudanPed/PedMasks",
        lambda stem: stem.removesuffix("_mask"),
        ".png",
    ),
}
CLIPS: dict[str, Clips] = {"mots": mots, "ycbv": ycbv, "segtrack": segtrack}


def lay_out(copies: Path, data: Path, name: str) -> int:
    """Make one set; how many photos or clips it has."""
    part = data / f"{name}.part"
    shutil.rmtree(part, ignore_errors=True)
    count = 0
    if name in PHOTOS:
        for folder in ("images", "masks"):
            (part / folder).mkdir(parents=True)
        for stem, picture, labels in PHOTOS[name](copies):
            if picture is None or labels is None or picture.shape[:2] != labels.shape:
                continue
            picture, ids = reduced(picture, labels.astype(np.uint8))
            if (kept := without_useless(ids)) is not None:
                save(picture, part / "images" / f"{stem}.jpg")
                write_mask(part / "masks" / f"{stem}.png", kept)
                count += 1
    else:
        names = []
        for clip, pairs in CLIPS[name](copies):
            pictures, masks = part / "JPEGImages" / "480p" / clip, part / "Annotations" / "480p" / clip
            pictures.mkdir(parents=True)
            masks.mkdir(parents=True)
            for index, (picture, ids) in enumerate(pairs):
                picture, ids = reduced(picture, ids)
                save(picture, pictures / f"{index:05d}.jpg")
                write_mask(masks / f"{index:05d}.png", ids)
            names.append(clip)
        (part / "ImageSets").mkdir()
        (part / "ImageSets" / "train.txt").write_text("\n".join(names) + "\n")
        count = len(names)
    part.rename(data / name)
    return count


def put_film(root: Path, name: str, shots: Iterable[tuple[str, np.ndarray, Ids]]) -> int:
    """Frames and masks of a film under their names, as YouTube-VOS has them, the whole film or nothing; how many."""
    pictures, masks, part = root / "JPEGImages" / name, root / "Annotations" / name, root / f"{name}.part"
    shutil.rmtree(part, ignore_errors=True)
    for folder in (part / "pictures", part / "masks", pictures.parent, masks.parent):
        folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for shot, picture, ids in shots:
        save(picture, part / "pictures" / f"{shot}.jpg")
        write_mask(part / "masks" / f"{shot}.png", ids)
        count += 1
    shutil.rmtree(pictures, ignore_errors=True)  # of a run that ended between the two
    (part / "pictures").rename(pictures)
    (part / "masks").rename(masks)
    part.rmdir()
    return count


def reduced(picture: np.ndarray, ids: Ids) -> Pair:
    """Both with a short side of at most `SHORT_SIDE`."""
    factor = SHORT_SIDE / min(ids.shape)
    if factor >= 1:
        return picture, ids
    size = round(ids.shape[1] * factor), round(ids.shape[0] * factor)
    return _resized(picture, size), cv2.resize(ids, size, interpolation=cv2.INTER_NEAREST).astype(np.uint8)


def without_useless(ids: Ids) -> Ids | None:
    """Objects that are too small, too large, or cut by three borders become void; None where no other is left."""
    kept = np.where(ids == VOID, np.uint8(VOID), np.uint8(0))
    count = 0
    for identity in np.unique(ids):
        if identity in (0, VOID):
            continue
        mask = ids == identity
        borders = sum(bool(side.any()) for side in (mask[0], mask[-1], mask[:, 0], mask[:, -1]))
        useful = LEAST <= mask.mean() <= MOST and borders < 3
        count += useful
        kept[mask] = count if useful else VOID
    return kept if count else None


def _resized(picture: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    return cv2.resize(picture, size, interpolation=cv2.INTER_AREA)


def save(picture: np.ndarray, path: Path) -> None:
    """As JPEG, hardly lossy."""
    Image.fromarray(picture).save(path, quality=QUALITY)


if __name__ == "__main__":
    import typer

    def main(copies: Path, data: Path, names: Annotated[list[str] | None, typer.Argument()] = None) -> None:
        for name in names or [*PHOTOS, *CLIPS]:
            if name not in PHOTOS and name not in CLIPS:
                raise InputError(f"there is no set {name!r}; there are {', '.join([*PHOTOS, *CLIPS])}")
            if not (data / name).exists():
                print(f"{name}: {lay_out(copies, data, name)}", flush=True)

    typer.run(main)
