/* HTML from elsewhere as nodes to be shown: gpubook.markup. It may come from a file, from what the browser has stored, from
 * a kernel or from the page's Python, which a stranger's code or address may have set to work.
 *
 * The text is parsed where nothing loads and nothing runs, and what a list allows is made anew, node by node; of an
 * element that is not on the list the text stays. Nothing that was parsed enters the page, and nothing is written as HTML
 * and parsed again. No other script of the book parses HTML; tests/autograder/book/test_markup.py enforces it. */
(function () {
  "use strict";

  const MATHML = "http://www.w3.org/1998/Math/MathML", XHTML = "http://www.w3.org/1999/xhtml";
  // A stranger's megabytes would make every visit to a page wait: a sentence has so many characters, what is deeper than so
  // many elements is joined to them. The book's longest sentence has 1,055.
  const LONGEST = 10000, DEEPEST = 100;
  const words = (text) => text.split(" ");

  // What a sentence may have: as TAGS and ATTRIBUTES in autograder/values/inline_html.py.
  const SENTENCE = words("blockquote br code em li ol p pre s span strong sub sup table tbody td th thead tr ul");
  const ALIGNED = "text-align: ?(?:left|right|center)";
  const ATTRIBUTES = { td: ["style", ALIGNED], th: ["style", ALIGNED], span: ["class", "math inline"] };

  // What our own converters make of a formula: Temml in a page, latex2mathml in a notebook.
  const MATH = words("math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace "
    + "msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none");

  // What the library's answers have besides, and the cards of a notebook.
  const ANSWER = words("a b caption dd del div dl dt h1 h2 h3 h4 h5 h6 hr i kbd small tfoot u");
  const CARD = words("button details fieldset form input label legend option select summary textarea");

  /* The attributes that a list allows, by name, each with the values that it allows. */
  const whole = (pattern) => new RegExp(`^(?:${pattern})$`);
  const each = (names, pattern) => words(names).map((name) => [name, whole(pattern)]);
  const ANY = "[^]*", COUNT = "\\d{1,4}", VALUE = "[\\w.%#+-][\\w .%#+-]*";  // of a style: no address, no function
  const styles = (...properties) => `(?:(?:${properties.join("|")}): ?${VALUE}(?:; ?|$))*`;
  const classes = (...names) => `(?:(?:${names.join("|")})(?: |$))*`;

  const OF_MATH = [
    ...each("accent accentunder columnalign columnlines columnspacing depth display displaystyle fence form height "
      + "largeop linebreak linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits "
      + "notation rowlines rowspacing rspace scriptlevel separator stretchy symmetric voffset width", "[\\w .%#+-]*"),
    ["xmlns", whole(MATHML)], ["class", whole(classes("tml-[\\w-]+"))],
    ["style", whole(styles("border[\\w-]*", "color", "display", "font-weight", "height", "margin-left", "math-depth",
      "padding[\\w-]*", "text-align", "white-space", "width"))],
  ];
  const OF_ANSWERS = [
    ...each("colspan rowspan start tabindex aria-level", COUNT), ...each("scope role lang", "[\\w-]*"),
    ["aria-label", whole(ANY)],
    ["class", whole(classes("math inline", "(?:planned|book|gpubook)-[\\w-]+", "reference", "meaning", "wide-table",
      "language-[\\w-]+"))],
    ["data-address", whole("(?:plan|fill|serve)\\.html#\\S*")],
    ["href", whole("https?://\\S*|[\\w.-][\\w./-]*(?:#\\S*)?|#\\S*")],
    ["style", whole(styles("text-align", "font-weight", "inline-size"))],
  ];
  const OF_CARDS = [
    ...OF_ANSWERS, ...each("class id for name aria-describedby", "[\\w:. -]*"), ...each("rows", COUNT),
    ...each("data-ordered hidden novalidate spellcheck autocomplete autocapitalize", "[\\w-]*"),
    ...each("data-exercise data-chapter data-input data-predict data-echo value placeholder", ANY),
    ["type", whole("text|radio|button|submit")],
  ];

  /* A list: of each namespace the tags, with their attributes. */
  const list = (html, attributes) => ({
    [XHTML]: new Map(html.map((tag) => [tag, new Map(attributes(tag))])),
    [MATHML]: new Map(MATH.map((tag) => [tag, new Map(OF_MATH)])),
  });
  const ofSentence = (tag) => (Object.hasOwn(ATTRIBUTES, tag) ? [[ATTRIBUTES[tag][0], whole(ATTRIBUTES[tag][1])]] : []);
  const LISTS = {
    sentence: list(SENTENCE, ofSentence),
    math: list([], () => []),
    answer: list([...SENTENCE, ...ANSWER], () => OF_ANSWERS),
    card: list([...SENTENCE, ...ANSWER, ...CARD], () => OF_CARDS),
  };

  /* The nodes of `html` that the list allows, in a fragment. In the order of the text and without recursion. */
  function allowed(html, tags) {
    const inert = document.createElement("template"), made = document.createDocumentFragment();
    inert.innerHTML = html;
    const copies = new Map([[inert.content, { place: made, depth: 0 }]]);  // by element: where what is in it goes
    const walker = document.createTreeWalker(inert.content, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const { place, depth } = copies.get(node.parentNode);
      if (node.nodeType === Node.TEXT_NODE) {
        place.append(node.data);
        continue;
      }
      const attributes = depth < DEEPEST ? tags[node.namespaceURI]?.get(node.localName) : undefined;
      if (!attributes) {
        copies.set(node, { place, depth });
        continue;
      }
      const copy = document.createElementNS(node.namespaceURI, node.localName);
      copies.set(node, { place: copy, depth: depth + 1 });
      for (const { name, value } of node.attributes) if (attributes.get(name)?.test(value)) copy.setAttribute(name, value);
      place.append(copy);
    }
    return made;
  }

  /* Whether a text has no more than a sentence may have, to the letter: then it need not be written anew. */
  const WITH = Object.entries(ATTRIBUTES).map(([tag, [name, value]]) => `${tag} ${name}="(?:${value})"`);
  const OTHER = new RegExp(`<(?!/?(?:${SENTENCE.join("|")})(?: ?/)?>|(?:${WITH.join("|")})>)`);
  const isPlain = (html) => html.length <= LONGEST && !OTHER.test(html);

  if (typeof document === "undefined") {
    module.exports = { SENTENCE, ATTRIBUTES, isPlain };
    return;
  }

  const markup = {
    /* A sentence of a verdict, or what a text is read as. */
    sentence: (html) => allowed(String(html).slice(0, LONGEST), LISTS.sentence),
    /* A formula that a converter has made. */
    math: (html) => allowed(html, LISTS.math),
    /* What a cell, a planner or a solution shows. */
    answer: (html) => allowed(html, LISTS.answer),
    /* An answer card. */
    card: (html) => allowed(html, LISTS.card),

    /* A sentence as HTML to be kept. */
    kept(html) {
      if (isPlain(html)) return html;
      const holder = document.createElement("div");
      holder.append(markup.sentence(html));
      return holder.innerHTML;
    },
  };
  window.gpubook = Object.assign(window.gpubook ?? {}, { markup });
})();
