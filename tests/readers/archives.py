"""Archives of which one member is changed, with digests that are right: else nothing but the digest
would be tried."""

import io
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable

# What zipfile raises of a file that is none.
BROKEN = (zipfile.BadZipFile, zlib.error, struct.error)
NO_ARCHIVE = (*BROKEN, OSError, RuntimeError, ValueError, EOFError)


def changed(contents: bytes, which: int, change: Callable[[bytes], bytes]) -> bytes | None:
    """The archive with one member, counted round and round, changed; None if there is none."""
    try:
        with zipfile.ZipFile(io.BytesIO(contents)) as archive:
            members = [(member.filename, archive.read(member)) for member in archive.filelist]
        if not members:
            return None
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of two of one name
            for i, (name, data) in enumerate(members):
                archive.writestr(name, change(data) if i == which % len(members) else data)
    except NO_ARCHIVE:
        return None
    return made.getvalue()
