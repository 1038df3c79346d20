"""Many videos, each in a process of its own: the library behind `mobilevos batch`."""

from mobilevos.batch.jobs import Job, read_jobs
from mobilevos.batch.run import JobResult, run_batch

__all__ = ["Job", "JobResult", "read_jobs", "run_batch"]
