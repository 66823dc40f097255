// The contents beside a page mark the section that is read. The theme marks one when its heading comes into view, so on
// the way up, and at the end of a page, another one stayed marked.
"use strict";
{
  const UPPER = 0.3; // a section is read from where its heading is in this part of the window

  window.addEventListener("load", () => {
    const contents = document.querySelector("#pst-page-toc-nav");
    const links = [...(contents?.querySelectorAll("a[href^='#']") ?? [])];
    const sections = links.map((link) => [link, document.getElementById(decodeURIComponent(link.hash.slice(1)))]);
    let chosen = null, waiting = false;

    function read() {
      const page = document.documentElement;
      if (page.scrollTop + window.innerHeight >= page.scrollHeight - 2) return links.at(-1);
      const above = sections.filter(([, at]) => at && at.getBoundingClientRect().top <= UPPER * window.innerHeight);
      return above.at(-1)?.[0] ?? null;
    }

    function mark() {
      waiting = false;
      const now = chosen ?? read();
      for (const link of links) {
        link.classList.toggle("active", link === now);
        if (link === now) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
      for (const entry of contents.querySelectorAll(".toc-entry"))
        entry.classList.toggle("active", entry.contains(now));
    }

    if (!contents) return;
    contents.addEventListener("click", (event) => { chosen = event.target.closest("a") ?? chosen; });
    for (const moved of ["wheel", "touchmove", "keydown"])
      window.addEventListener(moved, () => { chosen = null; }, { passive: true });
    window.addEventListener("scroll", () => {
      if (!waiting) requestAnimationFrame(mark);
      waiting = true;
    }, { passive: true });
    // the theme's own mark comes a frame later
    new MutationObserver(mark).observe(contents, { subtree: true, attributeFilter: ["class"] });
    mark();
  });
}
