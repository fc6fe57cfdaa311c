"""The review panel in a real browser, Chromium without a screen.

Slow. What it needs, and how to install it, stands in `browser_support.py`; for the last part also

    npm install axe-core     and     AXE_CORE=node_modules/axe-core/axe.min.js
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .browser_support import Chromium, Tab, chromium, until
from .panel_support import OWN, POISON, Desk, desk, served
from .sharing_support import remember

pytestmark = pytest.mark.slow
SCRIPT = "<script>document.title='caught'</script><img src=x onerror=\"document.title='caught'\">"
PAGES = ("/waiting", "/yours", "/facts", "/working", "/ended", "/status")


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with chromium() as one:
        yield one


@pytest.fixture
def home() -> Desk:
    return desk()


@pytest.fixture
def address(home: Desk) -> Iterator[str]:
    with served(home.panel) as one:
        yield one


@pytest.fixture
def tab(home: Desk, address: str, browser: Chromium) -> Tab:
    """Signed in by the link, on the list of what waits."""
    tab = browser.tab()
    tab.look(1100)
    tab.open(home.panel.link(address))
    until(lambda: tab.js("location.pathname") == "/")
    tab.settle()
    return tab


def button(note_id: str, action: str) -> str:
    return f"#note-{note_id} button[value={action}]"


def test_a_poisoned_note_is_shown_held_back_with_its_reason_and_rejected_by_a_click(
    home: Desk, tab: Tab, address: str
) -> None:
    note_id = home.poisoned()
    tab.open(f"{address}/waiting")
    assert POISON in tab.text
    assert "Why it waits: The quoted words were not typed by the person in this run." in tab.text
    tab.click_through(button(note_id, "reject"))
    assert "Rejected:" in tab.text
    assert home.status(note_id) == "forgotten"
    assert POISON not in home.office.digest(home.person)


def test_a_true_note_confirmed_by_a_click_stands_in_the_next_runs_system_message(
    home: Desk, tab: Tab, address: str
) -> None:
    true = "The release branch is called stable"
    note_id = home.poisoned(true)
    assert true not in home.office.digest(home.person)
    tab.open(f"{address}/waiting")
    tab.click_through(button(note_id, "confirm"))
    assert "Confirmed." in tab.text
    assert true in home.office.digest(home.person)


def test_a_text_that_changed_between_display_and_click_is_refused_and_shown(
    home: Desk, tab: Tab, address: str
) -> None:
    note_id = home.poisoned()
    tab.open(f"{address}/waiting")
    home.office.memory.confirm(
        home.office.agent, home.person.config, note_id, shown=POISON, text="Never push to main"
    )
    tab.click_through(button(note_id, "confirm"))
    assert "Nothing was decided: the note changed after this page was shown." in tab.text
    assert "Never push to main" in tab.text
    assert home.text(note_id) == "Never push to main"


def test_a_decision_is_undone_by_a_click(home: Desk, tab: Tab, address: str) -> None:
    note_id = home.own()
    tab.open(f"{address}/yours")
    tab.click_through(button(note_id, "forget"))
    assert home.status(note_id) == "forgotten"
    tab.click_through(".notice button")
    assert "Taken back:" in tab.text
    assert home.status(note_id) == "active"


def test_a_note_is_edited_and_confirmed_by_the_keyboard_alone(
    home: Desk, tab: Tab, address: str
) -> None:
    note_id = home.poisoned()
    tab.open(f"{address}/waiting")
    for _ in range(30):
        tab.press("Tab", 9)
        if tab.js("document.activeElement.tagName") == "SUMMARY":
            break
    tab.press("Enter", 13)
    tab.press("Tab", 9)
    assert tab.js("document.activeElement.tagName") == "TEXTAREA"
    tab.js("document.activeElement.select()")
    tab.type("Ask before you push to main")
    tab.press("Tab", 9)
    tab.press_through("Enter", 13)
    assert home.text(note_id) == "Ask before you push to main"
    assert home.status(note_id) == "active"
    # Who uses the keyboard goes on where the answer is, once the page is drawn.
    until(lambda: tab.js("document.activeElement.className") == "notice good")


def test_script_in_note_kind_title_and_query_stays_text(home: Desk, tab: Tab, address: str) -> None:
    note_id = home.poisoned(SCRIPT, kind=SCRIPT, about=SCRIPT)
    session = home.new_panel(sessions=lambda _: [SCRIPT])
    for path in ("/waiting", f"/note/{note_id}", "/waiting?q=%3Cscript%3E%3Cimg%20src%3Dx%3E"):
        tab.open(address + path)
        assert tab.js("document.title") != "caught"
        assert tab.js("document.querySelectorAll('script, img').length") == 0
    assert tab.js("document.querySelector('#q').value") == "<script><img src=x>"
    with served(session) as other:
        tab.open(session.link(other))
        tab.open(f"{other}/?scope=session")
        assert SCRIPT in tab.js("document.querySelector('select[name=session]').value")
        assert tab.js("document.querySelectorAll('script, img').length") == 0


def test_the_policy_stops_a_script_that_got_into_a_page(tab: Tab) -> None:
    tab.js(
        "(() => {const s = document.createElement('script'); s.textContent ="
        "'window.caught = true'; document.body.append(s)})()"
    )
    assert tab.js("window.caught") is None


def test_a_form_on_another_site_decides_nothing(
    home: Desk, tab: Tab, address: str, tmp_path: Path
) -> None:
    note_id = home.poisoned()
    tab.open(f"{address}/waiting")
    fields = tab.js(
        f"Object.fromEntries(new FormData(document.querySelector('#note-{note_id} form')))"
    )
    inputs = "".join(
        f'<input type="hidden" name="{name}" value="{value}">'
        for name, value in (fields | {"action": "confirm"}).items()
    )
    trap = tmp_path / "trap.html"
    trap.write_text(
        f'<form method="post" action="{address}/decide?scope=user">{inputs}'
        '<button id="go">Win</button></form>'
    )
    # The same browser, with its cookie, and a form that even has the right token.
    tab.open(trap.as_uri())
    tab.click_through("#go")
    assert "This form was not sent from the panel's own pages." in tab.text
    assert home.status(note_id) == "unconfirmed"


def test_another_host_name_and_a_missing_token_are_refused(
    home: Desk, address: str, browser: Chromium
) -> None:
    home.own()
    stranger = browser.tab()
    stranger.open(f"{address}/yours")
    assert "You are not signed in here." in stranger.text
    stranger.open(address.replace("127.0.0.1", "0.0.0.0"))
    assert "This panel does not answer to that host name." in stranger.text
    assert OWN not in stranger.text


@pytest.mark.parametrize("width", [390, 1100])
def test_no_page_is_wider_than_the_screen(home: Desk, tab: Tab, address: str, width: int) -> None:
    home.poisoned("x" * 400)
    note_id = home.own("https://example.org/" + "path/" * 60)
    tab.look(width)
    for path in (*PAGES, f"/note/{note_id}"):
        tab.open(address + path)
        assert tab.js("document.documentElement.scrollWidth") <= width


def axe() -> str:
    """The script of axe-core, which npm installs."""
    path = Path(os.environ.get("AXE_CORE", ""))
    if path.is_file():
        return path.read_text(encoding="utf-8")
    needed = "npm install axe-core, and set AXE_CORE to node_modules/axe-core/axe.min.js"
    if os.environ.get("CI"):
        pytest.fail(needed)
    pytest.skip(needed)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious(
    home: Desk, tab: Tab, address: str, browser: Chromium, dark: bool, language: str
) -> None:
    script = axe()
    home.hears("Never push to main", remember("Push to main", said="push to main"))
    gone, own = home.own("I like tea"), home.own()
    home.office.memory.forget(home.office.agent, home.person.config, gone)
    tab.js(f"document.querySelector('select[name=language]').value = '{language}'")
    tab.click_through("footer button")
    for width in (390, 1100):
        tab.look(width, dark=dark)
        for path in (*PAGES, f"/note/{home.waiting[0].id}", f"/note/{own}", "/note/none"):
            tab.open(address + path)
            assert tab.js("document.documentElement.lang") == language
            assert serious(tab, script) == [], path
    # What comes after a click, and before anybody is let in.
    tab.open(f"{address}/waiting")
    tab.click("article summary")
    assert serious(tab, script) == []
    tab.click_through("article button[value=reject]")
    assert serious(tab, script) == []
    stranger = browser.tab()
    stranger.look(1100, dark=dark)
    stranger.open(address)
    assert serious(stranger, script) == []


def serious(tab: Tab, script: str) -> list[Any]:
    tab.js(f"{script}; 0")
    found = tab.js("axe.run().then(one => JSON.stringify(one.violations))")
    return [
        (one["id"], [node["html"][:200] for node in one["nodes"]])
        for one in json.loads(found)
        if one["impact"] in ("serious", "critical")
    ]
