"""The book: from a chapter's source to the learner's notebook and the page."""
