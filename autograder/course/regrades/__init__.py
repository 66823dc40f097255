"""Requests of learners for another look at a grade: how they come in, what is kept, and what feedback says of them."""
