"""Every error that attriguard raises on purpose.

An error says what was expected, what came, and what to do about it, in one line.
No error ever quotes a user's private value.
"""


class AttriGuardError(Exception):
    """Root of all errors raised on purpose; the command line turns it into one line and exit code 2."""


class DataError(AttriGuardError, ValueError):
    """Input data that cannot be used: a file, a table, or a matrix."""


class ParameterError(AttriGuardError, ValueError):
    """A parameter outside what it may be."""


class NotFittedError(AttriGuardError, ValueError, AttributeError):
    """A guard or an attack was used before ``fit``."""


class GuardFileError(DataError):
    """A file that is not a guard, or a damaged one."""


class BusyError(DataError):
    """A folder or a file that another run is using."""


class ReleaseRefusedError(AttriGuardError):
    """A release that failed its check and was not written; the command line ends with exit code 3."""


class DownloadError(AttriGuardError, OSError):
    """A data set could not be fetched."""


class MissingExtraError(AttriGuardError, ImportError):
    """An optional dependency is not installed."""
