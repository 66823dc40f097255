"""A course with a check service in small: three exercises of the teacher's own, one assignment, two learners."""

import asyncio
import json
import threading
from contextlib import contextmanager
from datetime import datetime
from http.client import HTTPConnection

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from autograder import course
from autograder.book.source import chapters, notebook
from autograder.course import gradebook
from autograder.course.layout import read_config
from autograder.course.service.desk import Desk
from autograder.course.service.server import Door, OwnTokens, server
from autograder.course.service.settings import CheckService
from autograder.declaration import load_bank

NAME = "w1"
SENTENCE = "Each byte crosses the link once."
EXERCISES = f"""
from autograder.answers import Choice, Function, Quantity, Written
from autograder.declaration import Exercise, Mistake

TIME = Exercise(
    id="mine-time", points=2, prompt="{{S:B}} at {{W:B/s}}: how long?", given=dict(S=[4e9, 8e9, 6e9], W=[2e9, 1e9]),
    answer=Quantity("s"), solution=lambda S, W: S/W,
    mistakes=(Mistake(lambda S, W: W/S, "Turn the quotient over."), Mistake(lambda S, W: 3*S/W, "{SENTENCE}")))
DOUBLE = Exercise(
    id="mine-double", points=2, prompt="Write twice.", solution=lambda x: 2*x,
    answer=Function(name="twice", signature="twice(x)", cases=[(1.0,), (2.5,), (-3.0,)]),
    mistakes=(Mistake(lambda x: x*x, "That is the square."), Mistake(lambda x: x + 2, "Twice is not two more.")))
WHICH = Exercise(
    id="mine-which", prompt="Which?", solution="c", answer=Choice(("one", "two", "three", "four")),
    mistakes=(Mistake("a", "Not one."), Mistake("b", "Not two.")))
GUESS = Exercise(
    id="mine-guess", prompt="Which?", predict=True, solution="a", answer=Choice(("up", "down")),
    mistakes=(Mistake("b", "It rises."),))
WORDS = Exercise(id="mine-words", prompt="Why?", answer=Written(rubric=(("A reason.", 1),)), solution="So.")
"""
IDS = ("mine-time", "mine-double", "mine-which", "mine-guess", "mine-words")
DUE = datetime(2100, 1, 1)


def make(root, url="http://127.0.0.1:1/", due=DUE):
    """The course, with what `assign` releases."""
    folder = root / "course"
    course.init(folder)
    with open(folder / "nbgrader_config.py", "a") as config:
        config.write(f"c.CheckService.url = {url!r}\nc.GradeInSandbox.variants = True\nc.CheckService.attempts = 4\n")
    (folder / "exercises" / "mine.py").write_text(EXERCISES)
    bank = load_bank(folder / "exercises" / "mine.py")
    cells = [new_code_cell("from autograder import check, given, grade", id="setup")]
    cells += [
        new_code_cell("### BEGIN SOLUTION\n### END SOLUTION", id=name, metadata={"exercise": name}) for name in IDS
    ]
    nb = notebook.expand(new_notebook(cells=cells), bank, "learner", chapter=NAME, variants=True)
    nb.metadata["gpubook"] = {"chapter": NAME}
    (folder / "release" / NAME).mkdir()
    nbformat.write(nb, folder / "release" / NAME / f"{NAME}.ipynb")
    service = CheckService(config=read_config(folder)).public(bank)
    about = {"name": NAME, "due": "", "shows_solutions": False, "service": service}
    (folder / "release" / NAME / "exercises.json").write_text(chapters.as_json(bank, True, assignment=about))
    gradebook.set_due(f"sqlite:///{folder}/gradebook.db", NAME, due)
    return folder, bank


class Running:
    """A service that listens, in a thread of its own."""

    def __init__(self, folder, **options):
        self.folder, self.options = folder, options
        self.tokens = OwnTokens(folder).tokens.issue(["ann", "bob", "cy", "dan"], days=1)

    def __enter__(self):
        self.desk = Desk(self.folder, workers=2, **self.options.pop("desk", {}))
        self.loop, started = asyncio.new_event_loop(), threading.Event()

        async def begin():
            self.server = server(Door(self.desk), [OwnTokens(self.folder)], "/services/x/", **self.options)
            self.server.listen(0, address="127.0.0.1")
            self.port = next(iter(self.server._sockets.values())).getsockname()[1]
            started.set()

        def run():
            asyncio.set_event_loop(self.loop)
            self.loop.run_until_complete(begin())
            self.loop.run_forever()

        self.thread = threading.Thread(target=run)
        self.thread.start()
        assert started.wait(30)
        self.url = f"http://127.0.0.1:{self.port}/services/x/"
        return self

    def __exit__(self, *_):
        async def end():
            self.server.stop()
            await self.server.close_all_connections()

        asyncio.run_coroutine_threadsafe(end(), self.loop).result(30)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(30)
        self.loop.close()
        self.desk.close()

    def post(self, body, who="ann", path="check", method="POST", **headers):
        """The status, the reply, and the headers."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            if who is not None:
                headers.setdefault("Authorization", f"token {self.tokens.get(who, who)}")
            data = body if isinstance(body, bytes | type(None)) else json.dumps(body).encode()
            connection.request(method, f"/services/x/{path}", data, headers)
            response = connection.getresponse()
            text = response.read()
            return response.status, json.loads(text) if text else {}, dict(response.getheaders())
        finally:
            connection.close()

    def value(self, value, exercise="mine-time", who="ann", assignment=NAME):
        """The reply to a value."""
        return self.post({"assignment": assignment, "exercise": exercise, "value": value}, who)[:2]

    def code(self, *cells, answer=-1, who="ann"):
        """The reply to a function."""
        body = {"cells": list(cells), "answer": answer % len(cells)}
        return self.post({"assignment": NAME, "exercise": "mine-double", "code": body}, who)[:2]


@contextmanager
def fresh(desk):
    """Nobody has used an attempt, nor asked too often."""
    desk.ledger._db.execute("DELETE FROM attempts")
    desk.rate._left.clear()
    yield
