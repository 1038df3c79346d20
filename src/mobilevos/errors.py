"""The one exception that means: the user gave something we cannot work with."""


class InputError(ValueError):
    """Bad input. The message is one clear sentence; the command line prints it and exits with code 2."""
