"""What a page of the site gets at the end."""

from autograder.book.finishing.finish import with_named_toggles

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
