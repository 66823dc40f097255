"""One test over many values: thousands of small items cost a run of the tests more than what they check."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def each(
    name: str, values: Iterable[Any] | Callable[[], Iterable[Any]]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize(name, values)`, in one item that names all values for which the test fails.

    A function that makes the values is called when the test runs: each worker collects every file."""
    made = values if callable(values) else functools.partial(list, list(values))

    def over(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def run(*args: Any, **named: Any) -> None:
            failed, every = [], list(made())
            for value in every:
                try:
                    test(*args, **named, **{name: value})
                except Exception as error:
                    error.add_note(f"{name} = {value!r}")
                    failed.append(error)
            if len(failed) == 1:
                raise failed[0]
            if failed:
                raise ExceptionGroup(f"for {len(failed)} of {len(every)} values of {name}", failed)

        parameters = [p for key, p in signature.parameters.items() if key != name]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return run

    return over
