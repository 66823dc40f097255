"""What a page of the site gets at the end."""

from autograder.book.finishing.finish import with_named_toggles, without_search_index

CONTENTS = (
    '<li class="toctree-l1{here}"><a class="{current}reference internal" href="{href}">Work &amp; play</a>'
    '<details><summary><span class="toctree-toggle" role="presentation"><i class="fa-solid"></i></span></summary>'
)


def test_a_button_that_unfolds_contents_says_of_which_page():
    for filled in (
        CONTENTS.format(here="", current="", href="contribute.html"),
        CONTENTS.format(here=" current", current="current ", href="#"),
    ):
        assert '<summary aria-label="Pages below Work &amp; play"><span' in with_named_toggles(filled)


def test_other_summaries_stay_as_they_are():
    text = '<a class="reference internal" href="a.html">A</a><details><summary>Hint</summary></details>'
    assert with_named_toggles(text) == text


def test_the_index_of_the_search_is_loaded_where_it_is_read():
    text = 'search_as_you_type = false <p>Kept</p>\n    <script src="../searchindex.js"></script>'
    assert "searchindex" not in without_search_index("authors/kinds.html", text)
    assert "<p>Kept</p>" in without_search_index("authors/kinds.html", text)
    assert without_search_index("search.html", text) == text
    typing = text.replace("false", "true")
    assert without_search_index("authors/kinds.html", typing) == typing
