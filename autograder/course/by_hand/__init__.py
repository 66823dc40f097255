"""Grading answers in words: rubric and model answer where one grades, one question over the class, points by criterion.

Points and comments are nbgrader's, in its gradebook, so that its formgrader shows the same; which criteria they are for
is kept beside it (`marks`), and counts only as long as both agree.
"""
