"""Coroutines in tests: a browser that other tests hold runs an event loop in the tests' own thread."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def awaited(calling: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any) -> Any:
    """What the coroutine function returns, run in a thread of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(calling(*arguments))).result()


def awaited_here(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns, run in the tests' own thread, the only one that hears signals: a loop that a browser
    runs there is out of sight meanwhile.
    """
    held = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        return asyncio.run(coroutine)
    finally:
        asyncio._set_running_loop(held)
