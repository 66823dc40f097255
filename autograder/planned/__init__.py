"""What the pages that plan ask for, and what they answer: the planner, a plan's footprint, a server.

A page is a form of fields, each a text; `answered` reads them, asks `hwlib`, and returns HTML. The build of the book
calls it for the answer that stands in a page when it opens, and the page's own Python for all others.
"""

from .answer import answered
from .forms import FORMS, Form, FormField

__all__ = ["FORMS", "Form", "FormField", "answered"]
