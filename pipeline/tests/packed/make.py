"""Makes the files of this folder: the same rows as other programs pack them, by Python's own bz2, lzma and zipfile.

    python3 pipeline/tests/packed/make.py
"""

import bz2
import io
import lzma
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# A few lines would be within the decoders' first blocks.
ROWS = "".join(f"u{n % 17},i{n * 7919 % 101},{n % 5 + 1},{n}\n" for n in range(400)).encode()
TIME = (2026, 1, 1, 0, 0, 0)


class Pipe(io.RawIOBase):
    """Where zipfile cannot go back, so that it writes sizes after each member, as streams do."""

    def __init__(self):
        self.content = b""

    def writable(self):
        return True

    def write(self, block):
        self.content += bytes(block)
        return len(block)


def archive(members, method=zipfile.ZIP_DEFLATED, to=None):
    file = io.BytesIO() if to is None else to
    with zipfile.ZipFile(file, "w") as packed:
        for name, content in members:
            packed.writestr(zipfile.ZipInfo(name, TIME), content, method)
    return file.content if to is not None else file.getvalue()


def encrypted(content):
    """The bit that says so, in the header of the member and in the directory."""
    content = bytearray(content)
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


half = len(ROWS) // 2
one = [("ratings.csv", ROWS)]
release = [
    ("ml/", b""),
    ("ml/README.txt", b"about\n"),
    ("ml/ratings.csv", b"userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n2,10,4.0,835355493\n"),
    ("__MACOSX/ml/._ratings.csv", b"\0\5\x16\7"),
]
wide = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
files = {
    "ratings.bz2": bz2.compress(ROWS[:half]) + bz2.compress(ROWS[half:]),
    "ratings.xz": lzma.compress(ROWS[:half]) + lzma.compress(ROWS[half:]),
    "ratings.zip": archive(one),
    "stored.zip": archive(one, zipfile.ZIP_STORED),
    "streamed.zip": archive(one, to=Pipe()),
    "nested.zip": archive([("ratings.csv.xz", lzma.compress(ROWS))], zipfile.ZIP_STORED),
    "release.zip": archive(release),
    "encrypted.zip": encrypted(archive(one)),
    "bzip2.zip": archive(one, zipfile.ZIP_BZIP2),
    "empty.zip": archive([]),
    "dot.zip": archive([("./ratings.csv", ROWS)]),
    "hidden.zip": archive([("_data/ratings.csv", ROWS)]),
    "bomb.bz2": bz2.compress(bytes(64 << 20)),
    "bomb.xz": lzma.compress(bytes(64 << 20), preset=0),
    "bomb.zip": archive([("bomb", bytes(64 << 20))]),
    "wide.xz": lzma.compress(ROWS, filters=wide),
}
for name, content in files.items():
    (HERE / name).write_bytes(content)
