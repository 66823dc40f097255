"""Firefox as the browser tests and the benchmark of pages drive it."""

import contextlib
import json
import queue
import re
import subprocess
import threading
from itertools import count

import websocket

from tests.browser.conftest import LOCAL, Watch

# Said of a formula that a page brings in two pieces, where the first is painted meanwhile.
HALF_READ = "Invalid markup: Incorrect number of children for"


class Firefox:
    """A tab of Firefox, driven by WebDriver BiDi: Debian's has no other way in."""

    def __init__(self, program, profile):
        (profile / "user.js").write_text('user_pref("remote.active-protocols", 1);')
        command = [program, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        lines = (re.search(r"listening on (ws://\S+)", line) for line in self.process.stderr)
        address = next(filter(None, lines))[1]
        self.serial, self.answers, self.watch = count(1), queue.Queue(), Watch()
        self.loading = False
        self.socket = websocket.create_connection(f"{address}/session", suppress_origin=True, timeout=None)
        self.readers = [threading.Thread(target=self._read), threading.Thread(target=self.process.stderr.read)]
        for reader in self.readers:
            reader.start()
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self.tab = self.send("browsingContext.getTree")["contexts"][0]["context"]
        self.send("browsingContext.setViewport", context=self.tab, viewport={"width": 1280, "height": 1000})

    def _read(self):
        with contextlib.suppress(websocket.WebSocketException, OSError):
            while True:
                told = json.loads(self.socket.recv() or "{}")
                given = told.get("params", {})
                if told.get("method") == "network.beforeRequestSent":
                    url = given["request"]["url"]
                    if given.get("context") == self.tab and not url.startswith(LOCAL):
                        self.watch.foreign.append(url)
                elif told.get("method") == "log.entryAdded":
                    half_read = self.loading and given["text"].startswith(HALF_READ)
                    if given["level"] == "error" and not half_read:
                        self.watch.errors.append(given["text"])
                elif "id" in told:
                    self.answers.put(told)

    def send(self, method, **given):
        serial = next(self.serial)
        self.socket.send(json.dumps({"id": serial, "method": method, "params": given}))
        told = self.answers.get(timeout=120)
        assert told["id"] == serial
        assert "result" in told, told
        return told["result"]

    def goto(self, url):
        self._load("browsingContext.navigate", url=url)

    def reload(self):
        self._load("browsingContext.reload")

    def _load(self, method, **given):
        self.loading = True
        self.send(method, context=self.tab, wait="complete", **given)
        self.loading = False

    def evaluate(self, function, value=None):
        expression = f"Promise.resolve(({function})({json.dumps(value)})).then((x) => JSON.stringify(x ?? null))"
        told = self.send("script.evaluate", expression=expression, target={"context": self.tab}, awaitPromise=True)
        assert told["type"] == "success", told
        return json.loads(told["result"]["value"])

    def close(self):
        with contextlib.suppress(AssertionError, queue.Empty, OSError, websocket.WebSocketException):
            self.send("browser.close")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join(10)
        self.socket.close()
        self.process.stderr.close()
