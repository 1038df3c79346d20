"""Jobs on a Ray cluster; sources and outputs must be on storage that all its machines see under the same path.

Ray sends what to do, not the program: each machine has this package installed, in the same version, with its weights.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

from mobilevos.batch.jobs import Job
from mobilevos.batch.run import JobResult, Submit, run_job
from mobilevos.errors import InputError
from mobilevos.version import VERSION


@contextlib.contextmanager
def ray_pool(
    address: str, retries: int, cores_a_job: int = 1, command: Sequence[str] | None = None
) -> Iterator[Submit]:
    """address: of the cluster, or `local` for one on this machine that ends with the work."""
    try:
        import ray
    except ImportError:
        raise InputError("--ray needs Ray: pip install 'mobilevos[ray]'") from None
    try:
        ray.init(address=address, log_to_driver=False, include_dashboard=False if address == "local" else None)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise InputError(f"cannot reach a Ray cluster at {address}: {str(error).splitlines()[0]}") from error
    run = ray.remote(num_cpus=cores_a_job, max_retries=retries)(run_there)

    def submit(job: Job) -> Future[JobResult]:
        """A job whose worker dies more often than it is tried again has failed, and harms no other."""
        began, result = time.monotonic(), Future[JobResult]()

        def settle(there: Future[JobResult]) -> None:
            if not result.set_running_or_notify_cancel():
                return
            try:
                result.set_result(there.result())
            except ray.exceptions.RayError as error:
                said = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
                result.set_result(JobResult(job, "failed", retries + 1, time.monotonic() - began, said))
            except BaseException as error:
                result.set_exception(error)

        # without a command, each machine takes its own Python
        run.remote(VERSION, job, retries, cores_a_job, command).future().add_done_callback(settle)
        return result

    try:
        yield submit
    finally:
        ray.shutdown()


def run_there(version: str, job: Job, retries: int, threads: int, command: Sequence[str] | None) -> JobResult:
    """`run_job` on a machine of the cluster, if it has the version that the batch was started with."""
    if version != VERSION:
        said = f"a machine of the cluster has mobilevos {VERSION}, the batch was started with {version}"
        return JobResult(job, "failed", 0, 0.0, said)
    return run_job(job, retries, threads, command) if command else run_job(job, retries, threads)
