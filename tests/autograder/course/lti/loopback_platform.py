"""A learning platform on loopback, by the rules of LTI 1.3: tokens for signed assertions, a roster in pages, columns,
scores of which a newer one replaces the one before; and the faults of a network, one for each request that is named."""

import json
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import jwt

from autograder.course.lti.connection import ASSERTION, ITEMS, MEMBERS, RESULTS, SCORES

CLIENT = "tool-1"
LEARNER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"
TEACHER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"
PAGE = 100
LOSE, DROP, EXPIRE = "lose the answer", "drop the request", "expire the token"


class LoopbackPlatform:
    """The platform; `reset` begins with nothing in it."""

    def __init__(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self):
                outer.answer(self)

            do_GET = do_POST = do_PUT = handle_one

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()
        self.reset()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def reset(self, key=None):
        self.key, self.members, self.items = key, [], {}
        self.scores, self.posts = defaultdict(dict), []  # by column and learner; all that were taken, in order
        self.tokens, self.used, self.asked = {}, set(), []
        self.granted = {MEMBERS, ITEMS, RESULTS, SCORES}
        self.says_comments = True
        self.faults = defaultdict(list)  # by method and end of the path: what goes wrong with the next such requests

    def member(self, user, role=LEARNER, **about):
        self.members.append({"user_id": user, "roles": [role], "status": "Active", **about})

    def enter(self, column, user, points, maximum=None, **about):
        """What a teacher enters in the platform's own page."""
        stamp = self.scores[column].get(user, {}).get("timestamp", "")
        most = maximum or self.items[column]["scoreMaximum"]
        self.scores[column][user] = {"scoreGiven": points, "scoreMaximum": most, "timestamp": stamp, **about}

    def answer(self, handler):
        length = int(handler.headers.get("Content-Length") or 0)
        body, parts = handler.rfile.read(length), urlsplit(handler.path)
        self.asked.append(f"{handler.command} {handler.path}")
        queue = self.faults[handler.command, parts.path.rpartition("/")[2]]
        fault = queue.pop(0) if queue else None
        if fault == EXPIRE:
            self.tokens.clear()
        if fault == DROP:
            handler.close_connection = True
            return
        if isinstance(fault, tuple):
            status, headers, reply = fault
        else:
            status, headers, reply = self.reply(handler, parts, body)
        if fault == LOSE:
            handler.close_connection = True
            return
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    def reply(self, handler, parts, body):
        if parts.path == "/token":
            return self.token(parse_qs(body.decode()))
        scopes = self.tokens.get(handler.headers.get("Authorization", "").removeprefix("Bearer "))
        if scopes is None:
            return 401, {}, {"error": "invalid_token"}
        where = parts.path.strip("/").split("/")
        if handler.command == "POST" and where[-1] == "scores":
            return self.score(scopes, "/".join(where[:-1]), json.loads(body))
        needed = {"members": MEMBERS, "results": RESULTS}.get(where[-1], ITEMS)
        if needed not in scopes & self.granted:
            return 403, {}, {"error": "insufficient_scope"}
        if where == ["members"]:
            return self.paged("/members", parts, self.members, lambda rows: {"members": rows})
        if where[-1] == "results":
            return self.paged(parts.path, parts, self.results("/".join(where[:-1])), list)
        return self.column(handler.command, where, parts, body)

    def token(self, form):
        field = {name: values[0] for name, values in form.items()}
        try:
            assert (field["grant_type"], field["client_assertion_type"]) == ("client_credentials", ASSERTION)
            signed = field["client_assertion"]
            assert jwt.get_unverified_header(signed)["kid"] == self.key["kid"]
            about = {"audience": f"{self.url}/token", "issuer": CLIENT, "subject": CLIENT}
            required = {"require": ["exp", "iat", "jti", "iss", "sub", "aud"]}
            claims = jwt.decode(signed, jwt.PyJWK(self.key).key, ["RS256"], options=required, **about)
            assert claims["jti"] not in self.used
            assert claims["exp"] - claims["iat"] <= 3600
            self.used.add(claims["jti"])
        except (AssertionError, KeyError, TypeError, jwt.PyJWTError) as error:
            return 400, {}, {"error": "invalid_client", "error_description": type(error).__name__}
        scopes = set(field["scope"].split()) & self.granted
        token = f"token-{len(self.used)}"
        self.tokens[token] = scopes
        return 200, {}, {"access_token": token, "token_type": "bearer", "expires_in": 3600, "scope": " ".join(scopes)}

    def paged(self, path, parts, rows, wrapped):
        at = int(parse_qs(parts.query).get("from", ["0"])[0])
        more = {"Link": f'<{self.url}{path}?from={at + PAGE}>; rel="next"'} if at + PAGE < len(rows) else {}
        return 200, more, wrapped(rows[at : at + PAGE])

    def column(self, method, where, parts, body):
        if where == ["items"] and method == "POST":
            name = f"items/{len(self.items) + 1}"
            self.items[name] = {**json.loads(body), "id": f"{self.url}/{name}"}
            return 201, {}, self.items[name]
        if where == ["items"]:
            return self.paged("/items", parts, list(self.items.values()), list)
        if (name := "/".join(where)) not in self.items:
            return 404, {}, {"message": "no such column"}
        if method == "PUT":
            self.items[name] = json.loads(body)
        return 200, {}, self.items[name]

    def score(self, scopes, column, score):
        if SCORES not in scopes & self.granted:
            return 403, {}, {"error": "insufficient_scope"}
        user = score["userId"]
        if score["timestamp"] <= self.scores[column].get(user, {}).get("timestamp", ""):
            return 409, {}, {"error": "not newer"}
        self.scores[column][user] = score
        self.posts.append((column, user))
        return 200, {}, b""

    def results(self, column):
        most = self.items[column]["scoreMaximum"]
        rows = []
        for user, score in self.scores[column].items():
            if score.get("gradingProgress", "FullyGraded") != "FullyGraded":
                continue
            points = round(score["scoreGiven"] / score["scoreMaximum"] * most, 4)
            row = {"userId": user, "resultScore": points, "resultMaximum": most}
            rows.append({**row, "comment": score.get("comment")} if self.says_comments else row)
        return rows
