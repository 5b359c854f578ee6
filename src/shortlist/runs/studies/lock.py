"""One process at a time works on a study: a lock of the operating system, gone with the process."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from shortlist.errors import BadFileError

WAIT_S = 0.2
"""From one look at a lock that another process holds to the next."""


class FileLock:
    """The lock of a file, on the file itself, so that nothing is left beside it.

    The file must stay open until SQLite has closed it, since closing a file of a process drops SQLite's own
    locks on it. Systems without ``flock`` have no lock; there only the unique keys of units keep a study
    whole.

    Parameters
    ----------
    path : The file, made if it is not there.
    busy : Called once when another process holds the lock, before the first wait; it may raise.
    """

    def __init__(self, path: Path, busy: Callable[[], None]) -> None:
        self._handle = -1
        told = False
        while not self._try(path):
            if not told:
                busy()
                told = True
            time.sleep(WAIT_S)

    def close(self) -> None:
        """Give the lock back."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _try(self, path: Path) -> bool:
        """Take the lock; false if another one has it, or has put another file in its place meanwhile."""
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise BadFileError(
                f"{path} cannot be written: {error.strerror}. Choose a folder that exists."
            ) from None
        try:
            import fcntl
        except ImportError:  # no flock on this system
            self._handle = handle
            return True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), os.stat(path)):  # noqa: PTH116  # the pair of fstat
                self._handle = handle
                return True
        except (BlockingIOError, FileNotFoundError):
            pass
        os.close(handle)
        return False


def is_held(path: Path) -> bool:
    """Whether a process works on a study; false on systems without ``flock``."""
    try:
        import fcntl
    except ImportError:
        return False
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
