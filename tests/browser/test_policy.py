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
from tests.browser.test_markup import STRANGE, record

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WORKS = """async () => {
    await gpubook.mountAll();
    const figures = [...document.querySelectorAll("figure.live")].map((one) => one.dataset.ready ?? one.innerText);
    return [figures, (await gpubook.python.run("07-links", "6*7", "")).value];
}"""
# Each strange file is imported, and its sentence shown as it came, which no import does.
IMPORTED = """async (files) => {
    const shown = document.querySelector("form[data-exercise=links-time] .verdict"), seen = {};
    for (const [name, [text, say]] of Object.entries(files)) {
        gpubook.progress.imported(text);
        const kept = gpubook.progress.exercise("links-time").answer.verdict.say;
        shown.replaceChildren(gpubook.markup.sentence(kept), gpubook.markup.sentence(say));
        const elements = [...shown.querySelectorAll("*")];
        seen[name] = elements.flatMap((e) => [e.localName, ...[...e.attributes].map(({ name }) => `@${name}`)]);
        seen[name] = [...new Set(seen[name])];
        gpubook.progress.erase("all");
    }
    await new Promise((done) => setTimeout(done, 300));
    localStorage.setItem("gpubook-progress", files.frameset[0]);  // as an earlier edition has stored it
    return [seen, window.ran ?? null, document.baseURI === location.href];
}"""
AS_STORED = """async () => {
    await new Promise((done) => setTimeout(done, 300));
    const form = document.querySelector("form[data-exercise=links-time]");
    const elements = [...form.querySelectorAll(".verdict *")].map((e) => e.localName);
    localStorage.clear();
    const seen = document.querySelector(".bd-article h1").checkVisibility();
    return [form.dataset.verdict, elements, window.ran ?? null, seen];
}"""
HARMLESS = {"em", "p", "span", "math", "mtext", "table", "tbody", "tr", "td"}
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
        files = {name: [record(say), say] for name, say in STRANGE.items() if len(say) < 100_000}
        assert len(files) > 25
        shown, *untouched = page.evaluate(IMPORTED, files)
        assert {name: tags for name, tags in shown.items() if not HARMLESS.issuperset(tags)} == {}
        assert untouched == [None, True]
        page.reload()
        assert page.evaluate(AS_STORED) == ["wrong", ["p", "span"], None, True]
        # A browser tells of handlers in what it parses, although nothing of it enters the page.
        assert [error for error in watch.errors if "event handler" not in error] == []
        assert watch.foreign == []
        assert page.evaluate(INJECTED, address) == [None, 0, True, True]
        assert asked == []
