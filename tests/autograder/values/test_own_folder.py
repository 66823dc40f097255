"""What is ours in a folder is reached by no link."""

import pytest

from autograder.values.own_folder import LinkInTheWay, first_link, own, refuse_links


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "elsewhere" / "a" / "b").mkdir(parents=True)
    (tmp_path / "elsewhere" / "a" / "b" / "c").write_text("x")
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


@pytest.mark.parametrize("link", [".gpubook", ".gpubook/a", ".gpubook/a/b", ".gpubook/a/b/c"])
@pytest.mark.parametrize("target", ["elsewhere", "nowhere", "elsewhere/a/b/c"])
def test_a_link_on_the_way_is_named(folder, link, target):
    path = folder / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(folder.parent / target)
    assert first_link(folder, ".gpubook", "a", "b/c") == path
    for reached in (lambda: own(folder, "a", "b/c"), lambda: refuse_links(folder)):
        with pytest.raises(LinkInTheWay) as raised:
            reached()
        assert raised.value.link == path
        assert str(path) in str(raised.value)


def test_what_is_beside_the_way_is_seen_by_the_whole_look_alone(folder):
    (folder / ".gpubook" / "a").mkdir(parents=True)
    refuse_links(folder)
    (folder / ".gpubook" / "other").symlink_to(folder)
    assert own(folder, "a", "new") == folder / ".gpubook" / "a" / "new"
    with pytest.raises(LinkInTheWay):
        refuse_links(folder)


def test_a_folder_may_be_a_link_itself_and_need_not_be_there(folder):
    there = folder.parent / "link"
    there.symlink_to(folder)
    (there / ".gpubook").mkdir()
    refuse_links(there)
    refuse_links(folder / "new")
    assert own(there, "x") == there / ".gpubook" / "x"
