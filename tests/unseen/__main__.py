"""`python -m tests.unseen [CHAPTER ...]`: write anew what each answer is told, and show what disagrees."""

import sys

from . import write

print(", ".join(f"{count} {name}" for name, count in write(sys.argv[1:]).items()))
