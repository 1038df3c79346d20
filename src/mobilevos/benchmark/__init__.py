"""Honest speed: what a user waits for, measured in one run, with what it includes spelled out."""

from mobilevos.benchmark.measure import Timing, random_frames, time_tracking
from mobilevos.benchmark.tables import (
    Report,
    benchmark_memory,
    benchmark_queue,
    benchmark_runtimes,
    benchmark_speed,
)

__all__ = [
    "Report",
    "Timing",
    "benchmark_memory",
    "benchmark_queue",
    "benchmark_runtimes",
    "benchmark_speed",
    "random_frames",
    "time_tracking",
]
