"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from operator import methodcaller
from typing import IO

_IN_MEMORY = 1 << 20  # bytes


def write_whole(path: str, content: str | Callable[[IO[bytes]], object]) -> None:
    """Write a file whole or not at all.

    The text goes to a new file in the same folder, which then takes the place of the old one. A
    link is followed; the mode of the old file stays. What exists and is not a regular file (a
    pipe, a terminal) cannot be replaced and is written to directly, once there is all of it.

    Parameters
    ----------
    path : str
        The file.
    content : str or callable
        What it shall hold, as UTF-8; bytes escaped as surrogates are written as those bytes. Or
        what writes it to the binary file that it is given; what it raises is raised.

    Raises
    ------
    OSError
        The file cannot be written. The old one, if any, is as it was.
    """
    if isinstance(content, str):
        data = content.encode("utf-8", "surrogateescape")
        write: Callable[[IO[bytes]], object] = methodcaller("write", data)
    else:
        write = content
    try:
        old = os.stat(path)
    except FileNotFoundError:
        old = None
    if old is not None and (not stat.S_ISREG(old.st_mode) or _is_open_output(old)):
        with spooled(write) as text, open(path, "ab") as file:
            file.writelines(text)
        return
    if old is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    target = os.path.realpath(path)
    draft = os.path.join(os.path.dirname(target), f".rankmeter-{os.urandom(6).hex()}.tmp")
    try:
        with open(draft, "xb") as file:
            if old is not None:
                os.chmod(draft, stat.S_IMODE(old.st_mode))
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException as error:
        with suppress(OSError):  # there may be none
            os.unlink(draft)
        if isinstance(error, OSError) and error.filename == draft:
            # Nobody asked for the draft.
            raise OSError(error.errno, error.strerror, path) from None
        raise


@contextmanager
def spooled(write: Callable[[IO[bytes]], object]) -> Iterator[IO[bytes]]:
    """Let something be written to memory, or to a nameless file if it is long, to be read there."""
    from tempfile import SpooledTemporaryFile  # not every file is written to a pipe

    with SpooledTemporaryFile(_IN_MEMORY) as file:
        write(file)
        file.seek(0)
        yield file


def _is_open_output(status: os.stat_result) -> bool:
    """Whether this is standard output or error under another name, such as /dev/stdout."""
    for descriptor in (1, 2):
        with suppress(OSError):  # closed
            if os.path.samestat(status, os.fstat(descriptor)):
                return True
    return False
