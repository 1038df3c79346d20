"""The browser app on this machine: its files, and the server that hands them to the browser."""

from mobilevos.app.files import AppFiles, built_app
from mobilevos.app.server import open_server

__all__ = ["AppFiles", "built_app", "open_server"]
