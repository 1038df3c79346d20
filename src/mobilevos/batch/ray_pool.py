"""Jobs on a Ray cluster; sources and outputs must be on storage that all its machines see under the same path."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from mobilevos.batch.run import Submit, run_job
from mobilevos.errors import InputError


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
    run = ray.remote(num_cpus=cores_a_job, max_retries=retries)(run_job)
    try:
        given = (command,) if command else ()  # otherwise each machine has a Python of its own
        yield lambda job: run.remote(job, retries, cores_a_job, *given).future()
    finally:
        ray.shutdown()
