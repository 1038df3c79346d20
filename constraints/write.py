"""Prints the versions that are installed here, as constraints for CI: `make constraints`.

A package that has left Python 3.10 behind is free there: pip takes the last one that still runs on it.
"""

from importlib.metadata import Distribution, distributions

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

OLDEST = "3.10"
FREE = {"mobilevos", "pip", "setuptools"}
HEAD = """\
# What CI and `make test` install, so that a new release elsewhere turns nothing red here.
# Written by `make constraints`, in an environment in which all tests passed."""


def constraint(package: Distribution) -> str:
    """One line; without the local part of a version, such as +cpu, which says where a build came from."""
    line = f"{canonicalize_name(package.metadata['Name'])}=={Version(package.version).public}"
    needs = SpecifierSet(str(package.metadata.json.get("requires_python", "")))
    if needs.contains(f"{OLDEST}.99"):
        return line
    lowest = min(spec.version for spec in needs if spec.operator in (">=", ">", "~="))
    return f'{line}; python_full_version >= "{lowest}"'


if __name__ == "__main__":
    lines = {constraint(package) for package in distributions() if package.metadata["Name"] not in FREE}
    print("\n".join([HEAD, *sorted(lines)]))
