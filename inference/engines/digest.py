"""Compute the digest by which a run folder recognises the checkpoint or adapter of a folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

# A digest reads all of a small file, and this many blocks spread evenly over a large one. It takes a second even for
# many gigabytes, and another checkpoint differs in far more than one block.
SAMPLED_BLOCKS, BLOCK_BYTES = 64, 16 * 1024
SUFFIXES = {".safetensors", ".json", ".txt", ".model", ".jinja"}


def compute_sampled_checkpoint_digest(folder: Path) -> str:
    """Compute a digest of a checkpoint folder: names, sizes and sampled blocks of its model and tokenizer files."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.iterdir() if p.is_file() and p.suffix in SUFFIXES):
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode())
        last = max(size - BLOCK_BYTES, 0)
        whole = size <= SAMPLED_BLOCKS * BLOCK_BYTES
        # Where blocks begin. Of 64 sampled ones the first begins at 0 and the last at `last`, so it ends with the file.
        offsets = (
            range(0, size, BLOCK_BYTES) if whole else [last * i // (SAMPLED_BLOCKS - 1) for i in range(SAMPLED_BLOCKS)]
        )
        with path.open("rb") as file:
            for offset in offsets:
                file.seek(offset)
                digest.update(file.read(BLOCK_BYTES))
    return f"sha256:{digest.hexdigest()}"
