"""A page's policy in both browsers, over http and from the disk: the page works, and what is put into it does not."""

import contextlib
import http.server
import threading

import pytest

from tests.autograder import small_book
from tests.browser.conftest import Watch
from tests.browser.firefox import Firefox
from tests.browser.served import served
from tests.browser.test_live_cells import firefox

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WORKS = """async () => {
    await gpubook.mountAll();
    const figures = [...document.querySelectorAll("figure.live")].map((one) => one.dataset.ready ?? one.innerText);
    return [figures, (await gpubook.python.run("07-links", "6*7", "")).value];
}"""
INJECTED = """async (address) => {
    const put = (name, attributes) => document.body.append(Object.assign(document.createElement(name), attributes));
    put("script", { textContent: "window.ran = 1" });
    put("script", { src: `${address}/script.js` });
    put("script", { src: "data:text/javascript,window.ran = 1" });
    put("img", { src: `${address}/image` });
    put("link", { rel: "stylesheet", href: `${address}/style.css` });
    put("iframe", { src: `${address}/frame` });
    put("object", { data: `${address}/object` });
    put("base", { href: `${address}/` });
    put("div", { innerHTML: "<img src=x onerror='window.ran = 1'><svg onload='window.ran = 1'></svg>" });
    const form = Object.assign(document.createElement("form"), { action: `${address}/form` });
    document.body.append(form);
    try { form.submit(); } catch { /* as Firefox says it */ }
    await fetch(`${address}/fetch`).catch(() => {});
    const open = `request.open("GET", "${address}/python", False)`;
    const ask = ["import js", "request = js.XMLHttpRequest.new()", open, "request.send()"].join("\\n");
    const { error } = await gpubook.python.run("07-links", ask, "");
    let code = 0;  // not sooner: while a browser is driven it evaluates what it is asked to
    setTimeout(() => { code = window.eval("1"); });
    await new Promise((done) => setTimeout(done, 500));
    return [window.ran ?? null, code, error.includes("NetworkError"), document.baseURI === location.href];
}"""


@pytest.fixture
def away():
    """Another host, which answers everybody: its address, and what it was asked for."""
    asked = []

    class Listening(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listening) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@pytest.mark.parametrize(
    "way", ["chromium-http", "chromium-file", pytest.param("firefox-http", marks=pytest.mark.nightly), "firefox-file"]
)
def test_the_page_works_and_nothing_that_is_put_into_it(request, tmp_path, away, way):
    (browser, protocol), (address, asked) = way.split("-"), away
    with contextlib.ExitStack() as ends:
        site = small_book.built()
        base = site.as_uri() if protocol == "file" else ends.enter_context(served(site))
        if browser == "firefox":
            page = Firefox(firefox(), tmp_path)
            ends.callback(page.close)
            watch = page.watch
        else:
            context = request.getfixturevalue("chromium").new_context()
            ends.callback(context.close)
            watch = Watch()
            page = watch.attach(context.new_page())
        page.goto(f"{base}/07-links.html")
        assert page.evaluate(WORKS) == [["true", "true"], "42"]
        assert watch.errors == []
        assert page.evaluate(INJECTED, address) == [None, 0, True, True]
        assert asked == []
