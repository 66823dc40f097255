"""The check service of a course: the judge with the teacher's key, which learners' notebooks ask before the deadline.

A learner gets one verdict for each counted attempt, as many as the course allows, and nothing else: no key, no expected
value, no datum of anybody else. Who asks is known by a token, of JupyterHub or of the teacher, and never by what is
sent. An attempt is on the disk before anything is judged; the same answer again is the same attempt.
"""
