"""J and F, DAVIS and YouTube-VOS: how well objects are followed."""

from mobilevos.datasets.davis import read_davis
from mobilevos.datasets.youtube import read_youtube
from mobilevos.evaluation.davis import evaluate_davis, score_sequence
from mobilevos.evaluation.metrics import boundary_f, jaccard
from mobilevos.evaluation.prediction import predict_videos, write_submission
from mobilevos.evaluation.scores import Evaluation, SequenceScores, Speed
from mobilevos.evaluation.youtube import evaluate_youtube

__all__ = [
    "Evaluation",
    "SequenceScores",
    "Speed",
    "boundary_f",
    "evaluate_davis",
    "evaluate_youtube",
    "jaccard",
    "predict_videos",
    "read_davis",
    "read_youtube",
    "score_sequence",
    "write_submission",
]
