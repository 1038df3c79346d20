"""Reading a recipe: mistakes are named, sections are merged."""

from pathlib import Path

import pytest

from mobilevos.errors import InputError
from mobilevos.training.recipe import load_recipe


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("model: stcn\nsources: []\nlr: 1", "the recipe has no key 'lr'"),
        ("model: stcn\nsources: []\noptimizer: {lr: 1}", "optimizer has no key 'lr'; it has kind, learning_rate"),
        ("model: stcn\nsources: []\nphases: [{clip: {sise: 1}}]", r"phases\[0\].clip has no key 'sise'"),
        ("model: stcn\nsources: []\niterations: many", "expected int for iterations, got 'many'"),
        ("model: stcn\nsources: []\nprecision: int8", "expected one of float32, bfloat16, float16 for precision"),
        ("model: stcn\nsources: 3", "expected a list for sources, got 3"),
        ("model: stcn", "missing 1 required positional argument: 'sources'"),
        ("- 1", "expected keys and values"),
        ("a: [", "not valid YAML"),
        ("base: none.yaml", "cannot read the recipe"),
        ("base: 5", "expected the name of a file for base in the recipe .*, got 5"),
        ("base: recipe.yaml", "recipe.yaml' is its own base"),
        ("base: ../NAME/recipe.yaml", "recipe.yaml' is its own base"),
        ("model: stcn\nsources: []\nphases: []", "expected at least one phase in the recipe"),
        ("model: stcn\nsources: []\niterations: 0", "expected at least 1 for iterations, got 0"),
        ("model: stcn\nsources: []\nqueue: [2, 0]", r"expected at least 1 for queue, .*, got \(2, 0\)"),
        ("model: stcn\nsources: []\nqueue: []", r"expected at least 1 for queue, .*, got \(\)"),
        ("model: stcn\nsources: []\nqueue: long", "expected int for queue, got 'long'"),
        ("model: stcn\nsources: []\nqueue: [long]", r"expected int for queue\[0\], got 'long'"),
        (
            "model: stcn\nsources: []\nphases: [{clip: {frames: 4}, prefix: 3}]",
            r"expected prefix below clip.frames - 1 = 3, got 3",
        ),
        ("model: stcn\nsources: []\nphases: [{prefix: -1}]", "expected prefix below .*, got -1"),
        ("model: stcn\nsources: []\nqueue: 0", "expected at least 1 for queue, or null for all frames, got 0"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(text.replace("NAME", tmp_path.name))
    with pytest.raises(InputError, match=sentence):
        load_recipe(path)


def test_lengths_of_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text("model: stcn\nsources: []\nqueue: null")
    assert load_recipe(path).queue is None
    assert load_recipe(path, ["queue=3"]).queue == 3
    assert load_recipe(path, ["queue=3", "queue=null"]).queue is None
    assert load_recipe(path).validation_queue is None
    several = load_recipe(path, ["queue=[3, 2, 5]"])
    assert (several.queue, several.validation_queue) == ((3, 2, 5), 3)


def test_overrides_and_base(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("model: stcn\nsources: []\noptimizer: {learning_rate: 1e-5, warmup: 3}")
    (tmp_path / "own.yaml").write_text("base: base.yaml\noptimizer: {warmup: 4}\nname: mine")
    recipe = load_recipe(tmp_path / "own.yaml", ["optimizer.clip_norm=0.5", "iterations=7", "data_root=elsewhere"])
    assert (recipe.name, recipe.iterations, recipe.data_root) == ("mine", 7, "elsewhere")
    assert (recipe.optimizer.learning_rate, recipe.optimizer.warmup, recipe.optimizer.clip_norm) == (1e-5, 4, 0.5)
    with pytest.raises(InputError, match="expected key=value"):
        load_recipe(tmp_path / "own.yaml", ["fresh"])
    with pytest.raises(InputError, match=r"'validation.clips=\[a' is not valid YAML"):
        load_recipe(tmp_path / "own.yaml", ["validation.clips=[a"])
