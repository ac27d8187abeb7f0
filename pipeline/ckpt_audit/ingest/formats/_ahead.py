"""Reads a long source ahead of what is done with it.

Reading, decompressing and hashing leave the interpreter to others most of the time, and so does
the search for literals: with a second core they cost little.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar, cast

T = TypeVar("T")
_END = object()
_DEPTH = 4


def ahead(items: Iterator[T], after: int) -> Iterator[T]:
    """Gives what an iterator gives; from some item on, another thread takes it from there.

    Args:
        items: Taken from by one thread at a time, and by none once this generator has ended.
        after: How many items come before it is worth a thread.

    >>> list(ahead(iter(range(9)), after=3))
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    yield from islice(items, after)
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead") as pool:
        waiting = deque(pool.submit(next, items, _END) for _ in range(_DEPTH))
        try:
            while (item := waiting.popleft().result()) is not _END:
                waiting.append(pool.submit(next, items, _END))
                yield cast("T", item)
        finally:
            for future in waiting:
                future.cancel()
