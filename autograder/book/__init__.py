"""The book: from a chapter's source to the learner's notebook and the page.

`source` reads a chapter and makes the learner's edition of it, `rules` checks it, `skeleton` begins a new one;
`numbers` are the computed numbers of its text, `outputs` what its cells put out. `site` builds the pages out of these,
with the reference pages of `indexes` and the Python of `in_page`, and `finishing` does what Sphinx leaves to do.
`print` makes one file of a built site. A package imports only those below it (tests/test_drawers.py has the floors).
"""
