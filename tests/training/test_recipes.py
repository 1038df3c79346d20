"""The recipes of the repository: all can be read, and each says what it begins with in a way that lasts."""

from pathlib import Path

import pytest
import yaml

from mobilevos.model.checkpoint import NETWORKS
from mobilevos.training.recipe import load_recipe
from mobilevos.weights import shipped

ROOT = Path(__file__).parents[2]
RECIPES = sorted((ROOT / "recipes").rglob("*.yaml"))
CPU = [path for path in RECIPES if path.parent.name == "cpu"]

each = pytest.mark.parametrize("path", RECIPES, ids=lambda path: f"{path.parent.name}/{path.stem}")


def test_there_are_recipes() -> None:
    assert len(CPU) >= 10
    assert len(RECIPES) - len(CPU) >= 10


@each
def test_every_recipe_is_valid(path: Path) -> None:
    recipe = load_recipe(path)
    assert recipe.name == path.stem
    assert recipe.model in NETWORKS
    assert recipe.phases[-1].until == 1
    assert [phase.until for phase in recipe.phases] == sorted(phase.until for phase in recipe.phases)


@each
def test_a_recipe_is_two_files_at_most(path: Path) -> None:
    content = yaml.safe_load(path.read_text())
    if "base" in content:
        assert "base" not in yaml.safe_load((path.parent / content["base"]).read_text())


@each
def test_a_recipe_begins_with_the_weights_of_a_run(path: Path) -> None:
    """A shipped name means other weights after every release."""
    recipe = load_recipe(path)
    for checkpoint in (recipe.init, recipe.teacher.checkpoint):
        assert checkpoint not in shipped()
        if checkpoint:
            assert Path(checkpoint).parts[0] == "runs"
            assert Path(checkpoint).suffix == ".safetensors"


@pytest.mark.parametrize("path", CPU, ids=lambda path: path.stem)
def test_the_ladder_can_be_climbed(path: Path) -> None:
    """A run's beginning and its teacher come from another recipe, or from what the comment says how to make."""
    recipe, text = load_recipe(path), path.read_text()
    for checkpoint in filter(None, (recipe.init, recipe.teacher.checkpoint)):
        run = Path(checkpoint).parent.name
        told = f"-o {checkpoint} --recipe recipes/cpu/" in text or f"# {checkpoint} is " in text
        assert (path.parent / f"{run}.yaml").exists() or told


@pytest.mark.parametrize("path", CPU, ids=lambda path: path.stem)
def test_the_log_tells_what_became_of_a_run(path: Path) -> None:
    log = (ROOT / "docs" / "training-log.md").read_text()
    assert f"`recipes/cpu/{path.name}`" in log
    assert path.read_text().startswith("# ")


def test_the_papers_settings_are_written_out() -> None:
    folder = ROOT / "recipes" / "paper"
    for variant, omega in (("resnet18", 0.0), ("mobilenetv2", 0.95), ("mobilenetv2-lite", 0.95)):
        recipe = load_recipe(folder / f"distil-{variant}.yaml")
        assert recipe.model == variant
        assert (recipe.optimizer.kind, recipe.optimizer.learning_rate, recipe.optimizer.weight_decay) == (
            "adam",
            1e-5,
            1e-7,
        )
        assert recipe.iterations == 600_000
        assert {(phase.batch_size, phase.clip.frames) for phase in recipe.phases} == {(8, 5)}
        assert (recipe.loss.epsilon, recipe.loss.temperature, recipe.loss.omega) == (1.0, 0.1, omega)
        assert not recipe.locality
        assert recipe.optimizer.clip_norm == 0
        assert {source.kind: source.short_side for source in recipe.sources} == {"youtube": 480, "davis": 0}
        assert (recipe.loss.logit_direction, recipe.loss.logit_over) == ("student", "all")
        assert {phase.clip.size for phase in recipe.phases} == {384}


PAPER = [path for path in RECIPES if path.parent.name == "paper"]


@pytest.mark.parametrize("path", PAPER, ids=lambda path: path.stem)
def test_the_papers_clips_are_stcns(path: Path) -> None:
    """Nothing is pasted, and cameras are what they are."""
    recipe = load_recipe(path)
    for clip in [phase.clip for phase in recipe.phases]:
        assert not any((clip.distractor, clip.occluder, clip.motion_blur, clip.defocus, clip.compression, clip.noise))
        assert not any((clip.window, clip.far, clip.foreign, clip.transplant, clip.jump))
    skips = {phase.until: phase.clip.max_skip for phase in recipe.phases}
    if "static" in path.stem:
        assert all(not phase.clip.independent and not phase.multi_object for phase in recipe.phases)
    else:
        long = 0.8 if path.stem == "bl30k" else 0.9
        assert skips == {0.1: 5, 0.2: 10, 0.3: 15, 0.4: 20, long: 25, 1.0: 5}
        assert not any(source.paste for source in recipe.sources)
    if recipe.sources[0].kind == "youtube":
        weights = {source.kind: source.weight for source in recipe.sources}
        assert weights["youtube"] / weights["davis"] == pytest.approx(3465 / 300)
    warm = [round(part * recipe.iterations, -3) for part in (recipe.loss.keep_from, recipe.loss.keep_to)]
    assert warm == [20_000, 70_000]
    assert recipe.loss.epsilon == (0.0 if recipe.model == "stcn" else 1.0)
    assert recipe.loss.logit_direction == ("student" if path.stem.startswith("distil") else "teacher")
