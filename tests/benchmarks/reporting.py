"""What every measurement prints around its figures."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def machine() -> str:
    """One line: processor, cores, memory, system, Python."""
    cores = os.cpu_count()
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    return (
        f"{_processor()}, {usable} of {cores} cores, {_memory()}, "
        f"{platform.system()} {platform.release()}, "
        f"{platform.python_implementation()} {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}"
    )


def versions(*names: str) -> str:
    """One line: each distribution's release, or that it is not installed."""
    return ", ".join(f"{name} {_version(name)}" for name in names)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table whose columns line up."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    shown = [_line(line, widths) for line in lines]
    shown.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(shown)


def spread(samples: Sequence[float]) -> str:
    """The median with the lowest and the highest sample."""
    return f"{statistics.median(samples):.3f} ({min(samples):.3f}-{max(samples):.3f})"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "| " + " | ".join(padded) + " |"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> str:
    information = Path("/proc/meminfo")
    if not information.exists():
        return "memory unknown"
    kilobytes = int(information.read_text(encoding="utf-8").split()[1])
    return f"{kilobytes / 1024**2:.0f} GiB"
