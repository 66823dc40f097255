"""How many values a text of JSON has, before an object is made of each: in Python one takes fifty times its bytes."""

import re

STRING = re.compile(r'"(?:[^"\\]+|\\.)*+"?', re.DOTALL)


def least_values(text: str) -> int:
    """The least number of values that a text of JSON may hold. It has at most twice as many: each follows a comma or is
    the first in its list or object.

    >>> least_values('[1, 2, {"a, b": [[]]}]'), least_values('"[,"')
    (4, 1)
    """
    bare = STRING.sub("", text)
    return max(1 + bare.count(","), bare.count("[") + bare.count("{"))
