"""Read the members of a zip archive of strangers: deflated or compressed by zstd, each of a bounded size.

Python reads zstd (method 93) from 3.14 on, and there only its first frame; so members are read and checked here.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

from ground import extras
from ground.errors import InputError, shorten_text
from inference.stimuli.reading.files import refuse_pipe_or_device

LARGEST = 100_000_000
"""Bytes of a member, unpacked: what is longer is refused before it is unpacked."""
STORED, DEFLATED, ZSTANDARD = 0, 8, 93
_LOCAL = struct.Struct("<4s22xHH")  # signature, then the lengths of the name and the extra field behind it
_ENCRYPTED = 0x1


class Archive:
    """The members of a zip archive by name, each read as a whole.

    Parameters
    ----------
    path
        The archive.

    Raises
    ------
    InputError
        It cannot be read, is no zip archive or is cut off, or has a member twice.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            refuse_pipe_or_device(path)
            with zipfile.ZipFile(path) as archive:
                members = archive.infolist()
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError, struct.error) as error:
            raise InputError(
                f"{path}: no whole zip archive ({shorten_text(str(error))}); copy the file again"
            ) from None
        self._members: dict[str, zipfile.ZipInfo] = {}
        for member in members:
            if self._members.setdefault(member.filename, member) is not member:
                raise InputError(f"{path}: the member {shorten_text(member.filename)} is there twice; take one out")

    @property
    def names(self) -> list[str]:
        """Names of the members, in the order of the archive."""
        return list(self._members)

    def read_member(self, name: str) -> bytes:
        """Read a member.

        Raises
        ------
        InputError
            It is too large, encrypted, damaged or compressed in another way; or zstd cannot be read here.
        """
        member = self._members[name]
        where = f"{self.path}, {shorten_text(name)}"
        if max(member.file_size, member.compress_size) > LARGEST:
            raise InputError(f"{where}: unpacked, it has more than {LARGEST / 1e6:.0f} MB; leave this log out")
        if member.flag_bits & _ENCRYPTED:
            raise InputError(f"{where}: it is encrypted; save the log without a password")
        content = self._unpack_member(where, member)
        if content is None or len(content) != member.file_size or zlib.crc32(content) != member.CRC:
            raise InputError(f"{where}: damaged, its content is not what the archive says; copy the file again")
        return content

    def _unpack_member(self, where: str, member: zipfile.ZipInfo) -> bytes | None:
        """Unpack a member, at most one byte more than it should have; None where that fails."""
        most_bytes = member.file_size + 1
        packed = self._read_packed_bytes(member)
        if packed is None or member.compress_type == STORED:
            return packed
        if member.compress_type == DEFLATED:
            try:
                return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most_bytes)
            except zlib.error:
                return None
        if member.compress_type != ZSTANDARD:
            raise InputError(f"{where}: compressed by method {member.compress_type}; save it deflated, or by zstd")
        with extras.convert_import_errors_to_install_advice(f"{where}: compressed by zstd, which"):
            import zstandard
        try:
            # Long members are written as several frames, one after the other.
            frames = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed), read_across_frames=True)
            return frames.read(most_bytes)
        except zstandard.ZstdError:
            return None

    def _read_packed_bytes(self, member: zipfile.ZipInfo) -> bytes | None:
        """Read the bytes of a member as they are in the file; None where there is no such member."""
        with self.path.open("rb") as file:
            file.seek(max(member.header_offset, 0))
            header = file.read(_LOCAL.size)
            if len(header) < _LOCAL.size:
                return None
            signature, name, extra = _LOCAL.unpack(header)
            if signature != b"PK\x03\x04":
                return None
            file.seek(name + extra, io.SEEK_CUR)
            return file.read(member.compress_size)
