"""The version of the package, which its metadata hold."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("mobilevos")
except PackageNotFoundError:  # the source folder on the path, not installed
    VERSION = "0+unknown"
