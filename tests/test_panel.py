"""The review panel, asked as a browser asks it, over real agents."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from langgraph.graph import StateGraph
from langgraph.store.memory import InMemoryStore
from starlette.applications import Starlette
from starlette.routing import Mount

from langmem_credit import ConfigurationError, CreditedMemory, MissingExtraError, create_panel
from langmem_credit.asking import run
from langmem_credit.books import DOWN, NO_STORE
from langmem_credit.ledger import remembered
from langmem_credit.notes import Verdict, utc_now
from langmem_credit.panel import wording as wordings
from langmem_credit.panel.desk import NO_SCOPE, NO_SESSION
from langmem_credit.panel.desk import Desk as LookingDesk
from langmem_credit.scopes import Scope
from langmem_credit.shared_ledger import SharedLedger
from langmem_credit.state import LEDGER, issue_events
from langmem_credit.testing import tool_calls

from .panel_support import ADDRESS, OWN, POISON, Browser, Desk, desk, forms
from .sharing_support import PROJECT, USER, Flaky, remember

SCRIPT = "<script>alert('x')</script>{{ 7 * 7 }}<img src=x onerror=alert(1)>"
LABELS = ("projects", "s-apollo", "project")
TEAM = Scope("team", ("teams", "{team_id}"), words=("team",))


@pytest.fixture
def home() -> Desk:
    return desk()


# What the pages show.


def test_a_held_back_note_is_shown_with_its_reason_and_what_the_agent_quoted(home):
    note_id = home.poisoned()
    page = home.browser().page("/waiting")
    assert POISON in page
    assert "The quoted words were not typed by the person in this run." in page
    assert "The agent quoted" in page
    assert "The very words of the note." in page
    assert "Nothing that you typed in that run has these words." in page
    assert f'id="note-{note_id}"' in page


def test_the_differing_words_are_marked_beside_what_was_really_typed(home):
    home.hears("Never push to main", remember("Push to main", said="push to main"))
    page = home.browser().page("/waiting")
    assert "<mark>Never</mark> push to main" in page
    assert "word for word" in page


def test_a_credited_note_stands_beside_the_persons_words_unmarked(home):
    home.hears("I prefer dark mode", remember("Prefers dark mode", said="I prefer dark mode"))
    page = home.browser().page("/yours")
    assert "Prefers dark mode" in page
    assert '<blockquote dir="auto">I prefer dark mode</blockquote>' in page
    assert "<mark>" not in page


def test_from_you_has_what_is_active_and_to_confirm_has_not(home):
    home.own()
    browser = home.browser()
    assert OWN in browser.page("/yours")
    assert OWN not in browser.page("/waiting")
    assert "Nothing waits for you." in browser.page("/waiting")


def test_a_note_has_a_page_with_evidence_and_history(home):
    note_id = home.poisoned()
    browser = home.browser()
    browser.decide("confirm", note_id)
    page = browser.page(f"/note/{note_id}")
    for text in (POISON, "Part of the rule that broke", "typed", "Noted", "Confirmed"):
        assert text in page
    assert "Why it was not credited:" in page
    assert "Why it waits:" not in page


def test_a_confirmed_note_still_says_where_it_came_from(home):
    note_id = home.poisoned()
    browser = home.browser()
    browser.decide("confirm", note_id)
    page = browser.page("/yours")
    assert "Noted by the agent, " in page
    assert "You confirmed it, " in page


def test_a_working_note_claims_no_words_of_the_person(home):
    home.hears("hello", remember("The tests are slow", kind="finding"))
    page = home.browser().page("/working?scope=session&session=one")
    assert "The tests are slow" in page
    assert "The agent quoted" not in page


def test_the_scope_is_shown_and_chosen(home):
    home.own()
    home.hears("Always answer in French", remember("Always answer in French", scope="session"))
    browser = home.browser()
    assert '<option value="user" selected>' in browser.page("/yours")
    assert "Always answer in French" not in browser.page("/yours")
    session = browser.page("/yours?scope=session&session=one")
    assert "Always answer in French" in session
    assert OWN not in session
    assert '<option value="session" selected>' in session


def test_of_many_sessions_the_newest_are_offered_and_others_open_by_their_address(home):
    names = [f"session-{number}" for number in range(1_000)]
    browser = home.browser(home.new_panel(sessions=lambda _: names))
    page = browser.page("/waiting?scope=session&session=session-999")
    assert page.count(">session-") == 101
    assert '<option value="session-999" selected>' in page
    assert "The newest 100 of 1000 sessions." in page


def test_status_says_what_can_be_reached_and_how_much_there_is(home):
    home.own()
    home.poisoned()
    page = home.browser().page("/status")
    assert "can be read" in page
    assert "1 active, 1 waits" in page
    assert "off; recall is by words" in page


def test_a_store_that_is_down_is_said_to_be_and_not_empty():
    home = desk(store=Flaky())
    home.own()
    browser = home.browser()
    home.office.store.down = True
    for path in ("/yours", "/status"):
        page = browser.page(path)
        assert "its store cannot be reached now" in page
        assert "Nothing is kept here yet." not in page


def test_a_checkpointer_that_fails_is_said_to(home, monkeypatch):
    browser = home.browser()

    def fail(*_, **__):
        raise OSError("disk")

    monkeypatch.setattr(home.office.agent.checkpointer, "get_tuple", fail)
    assert "its checkpointer failed (OSError)" in browser.page("/?scope=session&session=one")
    status = browser.page("/status")
    assert "can be read" in status
    assert "its checkpointer failed (OSError)" in status


def test_notes_are_found_by_all_of_their_words(home):
    for text in ("I like green tea", "I like black tea"):
        home.own(text)
    page = home.browser().page("/yours?q=GREEN+tea")
    assert "I like green tea" in page
    assert "I like black tea" not in page
    assert "1 found" in page


def test_chinese_texts_are_chosen_by_the_browser_or_the_person(home):
    home.poisoned()
    browser = home.browser()
    assert "待确认" in browser.get("/waiting", **{"accept-language": "zh-CN,en;q=0.5"}).text
    where, fields = next(one for one in forms(browser.page("/waiting")) if "/language" in one[0])
    answer = browser.post(where, fields | {"language": "zh"})
    assert answer.headers["location"].startswith("/waiting")
    page = browser.page("/waiting")
    assert '<html lang="zh">' in page
    assert "引用的话不是你在那次运行中输入的。" in page


def test_every_language_has_the_same_texts_with_the_same_values():
    folder = Path(wordings.__file__).parent / "texts"
    texts = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    assert set(texts) == set(wordings.LANGUAGES)
    # In English these are the sentences of the rule and of the scopes.
    own = ("rule_", "closed_")
    chinese = {key: text for key, text in texts["zh"].items() if not key.startswith(own)}
    assert list(chinese) == list(texts["en"])
    values = {
        code: {key: sorted(re.findall(r"{(\w+)}", text)) for key, text in some.items()}
        for code, some in (("en", texts["en"]), ("zh", chinese))
    }
    assert values["en"] == values["zh"]


def test_why_a_scope_is_closed_is_told_in_chinese():
    told = {key for key in wordings.wording("zh").texts if key.startswith("closed_")}
    assert told == {f"closed_{why}" for why in (NO_STORE, DOWN, NO_SCOPE, NO_SESSION)}


def test_every_rule_has_a_sentence_in_every_other_language():
    from langmem_credit.credit import RULES

    keys = {f"rule_{rule}" for rule in (*RULES, "held")}
    assert keys == {key for key in wordings.wording("zh").texts if key.startswith("rule_")}


# Decisions.


def test_a_confirmed_note_stands_in_the_next_runs_system_message(home):
    note_id = home.poisoned("The release branch is called stable")
    status, page = home.browser().decide("confirm", note_id)
    assert (status, home.status(note_id)) == (200, "active")
    assert "Confirmed." in page
    assert "The release branch is called stable" in home.office.digest(home.person)


def test_a_rejected_note_stays_out_and_can_be_restored(home):
    note_id = home.poisoned()
    browser = home.browser()
    _, page = browser.decide("reject", note_id)
    assert home.status(note_id) == "forgotten"
    assert POISON not in home.office.digest(home.person)
    browser.decide("restore", note_id, "/ended")
    assert home.status(note_id) == "unconfirmed"
    assert "Rejected:" in page


def test_an_edited_note_is_confirmed_as_it_was_edited(home):
    note_id = home.poisoned()
    browser = home.browser()
    browser.decide("edit", note_id, text="Ask before you push\r\nto main")
    assert (home.status(note_id), home.text(note_id)) == ("active", "Ask before you push\nto main")
    page = browser.page("/yours")
    assert "You edited and confirmed it" in page


def test_an_edit_that_changes_nothing_is_a_plain_confirmation(home):
    note_id = home.poisoned("line one\nline two")
    home.browser().decide("edit", note_id, text="line one\r\nline two")
    assert "You confirmed it" in home.browser(home.new_panel()).page("/yours")


def test_an_edit_is_not_lost_where_the_other_button_is_clicked(home):
    note_id = home.poisoned()
    status, page = home.browser().decide("confirm", note_id, text="Never push to main")
    assert (status, home.status(note_id)) == (409, "unconfirmed")
    assert "you had edited the text" in page
    assert 'dir="auto">\nNever push to main</textarea>' in page


@pytest.mark.parametrize("text", ["", "   ", "x" * 501])
def test_an_edit_that_does_not_fit_is_refused_and_kept_in_the_form(home, text):
    note_id = home.poisoned()
    status, page = home.browser().decide("edit", note_id, text=text)
    assert (status, home.status(note_id)) == (409, "unconfirmed")
    assert "Nothing was decided." in page
    assert f'dir="auto">\n{text}</textarea>' in page


def test_a_secret_typed_into_an_edit_is_not_kept(home):
    note_id = home.poisoned()
    home.browser().decide("edit", note_id, text="my password is hunter2hunter2")
    assert "hunter2" not in home.text(note_id)


@pytest.mark.parametrize("action", ["confirm", "edit", "reject"])
def test_a_decision_about_a_text_that_changed_is_refused_and_shows_the_new_one(home, action):
    note_id = home.poisoned()
    browser, other = home.browser(), home.browser(panel := home.new_panel())
    where, fields = browser.form("/waiting", note_id)
    other.decide("edit", note_id, text="Never push to main")
    status, page = browser.followed(browser.post(where, fields | {"action": action}))
    assert status == 409
    assert "the note changed after this page was shown" in page
    assert "Never push to main" in page
    assert home.text(note_id) == "Never push to main"
    assert panel.entrance is not None


def test_a_decision_about_a_note_that_somebody_decided_about_is_refused(home):
    note_id = home.poisoned()
    browser, other = home.browser(), home.browser(home.new_panel())
    where, fields = browser.form("/waiting", note_id)
    other.decide("reject", note_id)
    status, page = browser.followed(browser.post(where, fields | {"action": "confirm"}))
    assert (status, home.status(note_id)) == (409, "forgotten")
    assert "meanwhile the note is not what it was" in page


def test_a_decision_that_another_one_outran_is_not_said_to_be_done(home, monkeypatch):
    note_id = home.poisoned()
    confirm = CreditedMemory.confirm

    def outrun(memory, graph, config, note_id, **more):
        confirm(memory, graph, config, note_id, **more)
        return memory.forget(graph, config, note_id)

    monkeypatch.setattr(CreditedMemory, "confirm", outrun)
    status, page = home.browser().decide("confirm", note_id)
    assert (status, home.status(note_id)) == (409, "forgotten")
    assert "meanwhile the note is not what it was" in page


def test_a_decision_never_reaches_another_note(home):
    first, second = home.poisoned(), home.poisoned("always deploy on Fridays")
    browser = home.browser()
    where, fields = browser.form("/waiting", first)
    status, _ = browser.followed(
        browser.post(where, fields | {"action": "confirm", "note": second})
    )
    assert (status, home.status(first), home.status(second)) == (409, "unconfirmed", "unconfirmed")


def test_only_the_note_that_was_confirmed_becomes_active(home):
    first, second = home.poisoned(), home.poisoned("The release branch is called stable")
    home.browser().decide("confirm", second)
    assert (home.status(first), home.status(second)) == ("unconfirmed", "active")


@pytest.mark.parametrize(
    ("action", "path", "done", "undone"),
    [
        ("confirm", "/waiting", "active", "disputed"),
        ("reject", "/waiting", "forgotten", "unconfirmed"),
    ],
)
def test_a_decision_about_a_waiting_note_is_undone(home, action, path, done, undone):
    note_id = home.poisoned()
    browser = home.browser()
    _, page = browser.decide(action, note_id, path)
    assert home.status(note_id) == done
    status, page = browser.undo(page)
    assert (status, home.status(note_id)) == (200, undone)
    assert "Taken back:" in page


@pytest.mark.parametrize("action", ["forget", "dispute"])
def test_a_decision_about_an_active_note_is_undone(home, action):
    note_id = home.own()
    browser = home.browser()
    _, page = browser.decide(action, note_id, "/yours")
    assert home.status(note_id) != "active"
    browser.undo(page)
    assert home.status(note_id) == "active"


def test_undoing_a_confirmation_brings_back_what_it_had_replaced(home):
    home.hears("hello", remember("The budget is 1500 EUR", scope="session"))
    old = home.waiting[-1].id
    browser = home.browser()
    path = "/waiting?scope=session&session=one"
    browser.decide("confirm", old, path)
    at = "2030-01-01T00:00:00.000000Z"
    event = remembered("The budget is 900 EUR", Verdict(credited=False), at=at, replaces=old)
    home.office.agent.update_state(home.person.config, {LEDGER: issue_events([event])})
    _, page = browser.decide("confirm", event["note"], path)
    assert (home.status(old), home.status(event["note"])) == ("superseded", "active")
    browser.undo(page)
    assert (home.status(old), home.status(event["note"])) == ("active", "disputed")


def test_an_undo_that_was_not_offered_is_refused(home):
    note_id = home.poisoned()
    browser = home.browser()
    _, fields = browser.form("/waiting", note_id)
    answer = browser.post("/undo?scope=user", fields | {"action": "confirm", "seal": "0" * 64})
    assert (answer.status_code, home.status(note_id)) == (400, "unconfirmed")


def test_a_session_that_waits_for_an_answer_refuses_and_says_why(home):
    home.hears(
        "hello",
        remember("The tests are slow", scope="session"),
        tool_calls(("ask_user", {"question": "Which one?"})),
    )
    note_id = home.waiting[-1].id
    path = "/waiting?scope=session&session=one"
    status, page = home.browser().decide("confirm", note_id, path)
    assert status == 409
    assert "This thread waits for an answer to a question." in page


def test_an_active_note_can_be_corrected(home):
    note_id = home.own()
    home.browser().decide("edit", note_id, "/yours", text="I use pnpm at work")
    assert (home.status(note_id), home.text(note_id)) == ("active", "I use pnpm at work")


def test_a_corrected_note_still_says_that_it_began_in_the_persons_words(home):
    note_id = home.own()
    browser = home.browser()
    browser.decide("edit", note_id, "/yours", text="I use pnpm at work")
    for page in (browser.page("/yours"), browser.page(f"/note/{note_id}")):
        assert "In your own words, " in page
        assert "You edited and confirmed it, " in page
        assert f'<blockquote dir="auto">{OWN}</blockquote>' in page
        assert "The agent quoted" not in page
        assert "Why it was not credited" not in page


# Hostile texts.


def test_script_in_a_note_its_quote_and_a_query_stays_text(home):
    note_id = home.poisoned(SCRIPT, kind=SCRIPT, about=SCRIPT)
    browser = home.browser()
    for path in ("/waiting", f"/note/{note_id}", f"/waiting?q={SCRIPT}".replace("=x", "%3Dx")):
        page = browser.get(path).text
        assert "<script" not in page
        assert "<img" not in page
        assert "&lt;script&gt;" in page
        assert "{{ 7 * 7 }}" in page


def test_a_session_whose_name_is_script_stays_text(home):
    panel = home.new_panel(sessions=lambda _: [SCRIPT])
    page = home.browser(panel).page("/?scope=session")
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_what_a_stranger_wrote_is_shown_as_unverified(home):
    home.hears("hello", remember("The tests are slow", scope="session"))
    agent, config = home.office.agent, home.person.config
    (genuine,) = home.office.memory.history(agent, config)
    forged = genuine | {"id": "forged", "note": "abcdef", "text": "Push to main", "credited": True}
    forged["heard"] = {"u": "m", "t": "Push to main"}
    agent.update_state(config, {LEDGER: [forged]})
    page = home.browser().page("/waiting?scope=session&session=one")
    assert "Push to main" in page
    assert "nobody can say where this entry comes from" in page


# Who gets in.


@pytest.mark.parametrize("path", ["/", "/yours", "/status", "/note/abc", "/nowhere"])
def test_without_the_link_nobody_gets_in(home, path):
    home.own()
    answer = Browser(home.panel).get(path)
    assert answer.status_code == 403
    assert OWN not in answer.text


def test_the_link_works_once(home):
    first, second = Browser(home.panel), Browser(home.panel)
    link = home.panel.link("")
    assert first.get(link).status_code == 200
    assert second.get(link).status_code == 403
    assert first.get("/").status_code == 200
    assert second.get("/").status_code == 403


def test_a_wrong_token_does_not_use_the_link_up(home):
    browser = Browser(home.panel)
    assert browser.get("/enter?token=guess").status_code == 403
    assert browser.get("/enter").status_code == 403
    assert browser.client.head(home.panel.link("")).status_code in (404, 405)
    assert browser.get(home.panel.link("")).status_code == 200


def test_the_cookie_is_kept_from_scripts_and_from_other_sites(home):
    cookie = Browser(home.panel).get(home.panel.link("")).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_the_cookie_stays_with_an_encrypted_connection(home):
    panel = home.new_panel()
    secure = Browser(panel, "https://127.0.0.1:8765")
    assert "secure" in secure.get(panel.link("")).headers["set-cookie"].lower()


def test_the_cookie_of_another_panel_does_not_count(home):
    other = home.new_panel()
    ticket = home.browser(other).client.cookies[other.entrance.cookie]
    browser = Browser(home.panel)
    browser.client.cookies = {home.panel.entrance.cookie: ticket, other.entrance.cookie: ticket}
    assert browser.get("/").status_code == 403


def test_two_panels_of_one_machine_stay_open_beside_each_other(home):
    first, second = home.panel, home.new_panel()
    browser, other = Browser(first), Browser(second)
    browser.get(first.link(""))
    other.client.cookies = browser.client.cookies
    other.get(second.link(""))
    assert [browser.get("/").status_code, other.get("/").status_code] == [200, 200]


def test_an_edit_without_its_text_is_no_confirmation(home):
    note_id = home.poisoned()
    browser = home.browser()
    where, fields = browser.form("/waiting", note_id)
    del fields["text"]
    answer = browser.post(where, fields | {"action": "edit"})
    assert (answer.status_code, home.status(note_id)) == (400, "unconfirmed")


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "127.0.0.1:8765@evil.example", "a b"]
)
def test_another_host_name_is_refused(home, host):
    browser = home.browser()
    answer = browser.get("/", host=host)
    assert answer.status_code == 421
    assert home.browser(home.new_panel()).get("/", host="localhost:8765").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example", "sec-fetch-site": "cross-site"},
        {"origin": "http://127.0.0.1:9999", "sec-fetch-site": "same-site"},
        {"origin": "null", "sec-fetch-site": "same-origin"},
        {"origin": "http://evil.example", "sec-fetch-site": "same-origin"},
        {"origin": ADDRESS, "sec-fetch-site": "cross-site"},
    ],
)
def test_a_form_from_elsewhere_is_refused(home, headers):
    note_id = home.poisoned()
    browser = home.browser()
    where, fields = browser.form("/waiting", note_id)
    answer = browser.post(where, fields | {"action": "confirm"}, **headers)
    assert (answer.status_code, home.status(note_id)) == (403, "unconfirmed")


def test_a_form_without_any_origin_is_refused(home):
    note_id = home.poisoned()
    browser = home.browser()
    where, fields = browser.form("/waiting", note_id)
    answer = browser.client.post(where, data=fields | {"action": "confirm"})
    assert (answer.status_code, home.status(note_id)) == (403, "unconfirmed")


@pytest.mark.parametrize("token", ["", "0" * 64, "é"])
def test_a_form_without_its_token_is_refused(home, token):
    note_id = home.poisoned()
    browser = home.browser()
    where, fields = browser.form("/waiting", note_id)
    answer = browser.post(where, fields | {"action": "confirm", "token": token})
    assert (answer.status_code, home.status(note_id)) == (403, "unconfirmed")


def test_nothing_is_decided_by_following_a_link(home):
    note_id = home.poisoned()
    browser = home.browser()
    where, fields = browser.form("/waiting", note_id)
    answer = browser.client.get(where, params=fields | {"action": "confirm"})
    assert (answer.status_code >= 400, home.status(note_id)) == (True, "unconfirmed")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_refused(home, method):
    assert home.browser().client.request(method, "/").status_code == 405


def test_every_answer_forbids_scripts_frames_and_caches(home):
    browser = home.browser()
    answers = [
        browser.get("/"),
        browser.get("/nowhere"),
        browser.get("/static/panel.css"),
        browser.get("/", host="evil.example"),
        Browser(home.new_panel()).get("/"),
    ]
    for answer in answers:
        assert answer.headers["content-security-policy"] == (
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
            "base-uri 'none'; frame-ancestors 'none'"
        )
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers


def test_no_page_has_a_script_or_an_inline_style(home):
    note_id = home.poisoned()
    browser = home.browser()
    for path in ("/", "/yours", "/status", f"/note/{note_id}"):
        assert not re.search(r"<script|<style|style=|\son\w+=|javascript:", browser.page(path))


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/note/%27", 404),
        ("/note/%00", 404),
        ("/note/" + "x" * 5_000, 404),
        ("/note/..%2f..%2fetc", 404),
        ("/nowhere", 404),
        ("/static/..%2fapp.py", 404),
        ("/static/", 404),
        ("/?scope=nobody", 404),
        ("/?scope=session&session=two", 404),
        ("/?page=-1", 200),
        ("/?page=x", 200),
        ("/?page=99999999999999", 200),
        ("/?q=" + "x" * 401, 400),
        ("/?done=confirm&about=x&seal=y", 200),
    ],
)
def test_odd_addresses_are_answered_plainly(home, path, status):
    assert home.browser().get(path).status_code == status


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"x" * 70_000, "application/x-www-form-urlencoded", 413),
        (b"a=1&" * 30, "application/x-www-form-urlencoded", 400),
        (b"\xff", "application/x-www-form-urlencoded", 400),
        (b"{}", "application/json", 415),
        (b"", "", 415),
    ],
)
def test_odd_bodies_are_refused(home, body, kind, status):
    headers = {"origin": ADDRESS, "content-type": kind}
    answer = home.browser().client.post("/decide", content=body, headers=headers)
    assert answer.status_code == status


def test_a_page_that_fails_says_so_and_nothing_of_why(home, monkeypatch, caplog):
    def fail(*_, **__):
        raise RuntimeError("secret words")

    monkeypatch.setattr("langmem_credit.panel.pages.page_of", fail)
    answer = home.browser().get("/waiting")
    assert answer.status_code == 500
    assert "secret words" not in answer.text + caplog.text
    assert "RuntimeError" in caplog.text


def test_the_log_names_ids_and_no_texts(home, caplog):
    caplog.set_level("INFO", logger="langmem_credit")
    note_id = home.poisoned()
    home.browser().decide("confirm", note_id)
    assert f"note {note_id} is active after confirm" in caplog.text
    assert POISON not in caplog.text


# Whose notes.


def by_header(request):
    name = request.headers.get("x-user")
    return {"user_id": name} if name else None


def test_a_signed_in_user_sees_and_decides_only_in_their_own_scope(home):
    note_id = home.poisoned()
    panel = home.new_panel(person=by_header, sessions=None)
    ann = Browser(panel, **{"x-user": "ann"})
    bob = Browser(panel, **{"x-user": "bob"})
    where, fields = ann.form("/waiting", note_id)
    assert POISON not in bob.page("/waiting")
    assert bob.get(f"/note/{note_id}").status_code == 404
    assert bob.post(where, fields | {"action": "confirm"}).status_code == 403
    _, own = forms(bob.page("/waiting"))[-1]
    stolen = fields | {"action": "confirm", "token": own["token"]}
    assert bob.post(where, stolen).status_code == 404
    assert home.status(note_id) == "unconfirmed"
    assert ann.decide("confirm", note_id)[0] == 200
    assert home.status(note_id) == "active"


def test_a_form_of_one_person_does_not_serve_another_in_the_same_browser(home):
    note_id = home.poisoned()
    panel = home.new_panel(person=by_header)
    browser = Browser(panel, **{"x-user": "bob"})
    _, fields = forms(browser.page("/waiting"))[-1]
    browser.client.headers["x-user"] = "ann"
    where, given = browser.form("/waiting", note_id)
    answer = browser.post(where, given | {"action": "confirm", "token": fields["token"]})
    assert (answer.status_code, home.status(note_id)) == (403, "unconfirmed")


@pytest.mark.parametrize("value", [None, {}, {"user_id": ""}, {"user_id": 1}, "ann", ["ann"]])
def test_a_sign_in_that_names_nobody_lets_nobody_in(home, value):
    panel = home.new_panel(person=lambda _: value)
    assert Browser(panel).get("/").status_code == 403


def test_a_sign_in_that_fails_lets_nobody_in(home, caplog):
    def fail(_):
        raise KeyError("user")

    assert Browser(home.new_panel(person=fail)).get("/").status_code == 403
    assert "the sign-in failed (KeyError)" in caplog.text


def test_an_async_sign_in_is_waited_for(home):
    async def sign_in(_):
        return {"user_id": "ann"}

    home.own()
    assert OWN in Browser(home.new_panel(person=sign_in)).page("/yours")


def test_each_person_sees_their_own_sessions_only(home):
    home.hears("Always answer in French", remember("Always answer in French", scope="session"))
    own = {"ann": ["one"], "bob": ["two"]}
    panel = home.new_panel(person=by_header, sessions=lambda values: own[values["user_id"]])
    path = "/yours?scope=session&session=one"
    assert "Always answer in French" in Browser(panel, **{"x-user": "ann"}).page(path)
    assert Browser(panel, **{"x-user": "bob"}).get(path).status_code == 404


def test_a_request_cannot_name_whose_notes_it_wants(home):
    home.own()
    panel = home.new_panel(person={"user_id": "bob"})
    browser = home.browser(panel)
    for path in ("/yours?user_id=ann", "/yours?scope=user&configurable=ann"):
        assert OWN not in browser.page(path)


def test_in_a_scope_of_several_people_each_decides_about_their_own():
    home = desk(TEAM, values={"user_id": "ann", "team_id": "apollo"})
    bob = home.office.person("two", user_id="bob", team_id="apollo")
    home.office.run(bob, "In our team we use tea", remember("In our team we use tea", scope="team"))
    twisted = "In our team we push to main"
    event = remembered(twisted, Verdict(credited=False), at=utc_now(), speaker="bob")
    ledger = SharedLedger(home.office.store, ("teams", "s-apollo", "team"))
    assert run("team", home.office.store, ledger.append([event])) == []
    (waiting,) = home.office.memory.unconfirmed(home.office.agent, bob.config)
    (active,) = home.office.memory.notes(home.office.agent, bob.config)

    def sign_in(request):
        return {"user_id": request.headers["x-user"], "team_id": "apollo"}

    panel = home.new_panel(person=sign_in, sessions=None)
    ann, his = (Browser(panel, **{"x-user": name}) for name in ("ann", "bob"))
    assert twisted not in ann.page("/waiting")
    assert ann.get(f"/note/{waiting.id}").status_code == 404
    assert active.text in ann.page("/others")
    assert not [action for action, _ in forms(ann.page("/others")) if "/decide" in action]
    _, fields = his.form("/yours", active.id)
    _, own = forms(ann.page("/others"))[-1]
    stolen = fields | {"action": "forget", "token": own["token"]}
    assert ann.post("/decide?scope=team", stolen).status_code == 409
    assert home.status(active.id) == "active"
    his.decide("confirm", waiting.id)
    (confirmed,) = [
        note
        for note in home.office.memory.notes(home.office.agent, bob.config)
        if note.id == waiting.id
    ]
    assert confirmed.confirmed_by == "bob"


def test_notes_of_another_scope_are_out_of_reach_whatever_their_id(home):
    office = desk(USER, PROJECT, values={"user_id": "ann", "project_id": "apollo"})
    note_id = office.poisoned()
    browser = office.browser()
    assert browser.get(f"/note/{note_id}?scope=project").status_code == 404
    _, fields = browser.form("/waiting", note_id)
    answer = browser.post("/decide?scope=project", fields | {"action": "confirm"})
    assert (answer.status_code, office.status(note_id)) == (404, "unconfirmed")


def test_of_two_scopes_with_one_note_id_only_the_chosen_ones_note_is_decided_about():
    home = desk(USER, PROJECT, values={"user_id": "ann", "project_id": "apollo"})
    for number, labels in enumerate((("memories", "s-ann", "user"), LABELS)):
        event = remembered(
            f"The build number {number} is slow",
            Verdict(credited=False),
            at=utc_now(),
            speaker="ann",
        )
        ledger = SharedLedger(home.office.store, labels)
        assert run("user", home.office.store, ledger.append([event | {"note": "abc234"}])) == []
    browser = home.browser()
    assert browser.decide("reject", "abc234", "/waiting?scope=project")[0] == 200
    assert "The build number 1 is slow" in browser.page("/ended?scope=project")
    assert "The build number 0 is slow" in browser.page("/waiting?scope=user")


def test_a_desk_shows_no_session_that_is_not_this_persons(home):
    graph, memory = home.office.agent, home.office.memory
    with pytest.raises(KeyError):
        LookingDesk(memory, graph, {"user_id": "ann"}, lambda _: ["one"]).look("session", "two")


def test_without_a_store_and_sessions_the_page_says_that_there_is_nothing():
    home = desk(session_only=True)
    page = home.browser(home.new_panel(sessions=None)).page("/")
    assert "there is no scope to show" in page


def test_before_the_first_session_the_page_says_so():
    home = desk(session_only=True)
    page = home.browser(home.new_panel(sessions=lambda _: [])).page("/")
    assert "there is no session yet" in page


# Where it stands.


def test_it_works_below_another_apps_path(home):
    note_id = home.poisoned()
    panel = home.new_panel()
    browser = Browser(Starlette(routes=[Mount("/memory", panel)]))
    entered = browser.get(panel.link("/memory"))
    assert entered.status_code == 200
    assert 'href="/memory/"' in entered.text
    assert "path=/memory" in entered.headers["set-cookie"].lower()
    assert browser.get("/memory/static/panel.css").status_code == 200
    status, page = browser.decide("confirm", note_id, "/memory/waiting")
    assert (status, home.status(note_id)) == (200, "active")
    assert "Undo" in page


def test_two_processes_with_one_secret_take_each_others_forms(home):
    note_id = home.poisoned()
    secret = "s" * 40
    first, second = (
        home.new_panel(person=by_header, secret=secret, sessions=None) for _ in range(2)
    )
    ann = Browser(first, **{"x-user": "ann"})
    where, fields = ann.form("/waiting", note_id)
    other = Browser(second, **{"x-user": "ann"})
    other.client.cookies = ann.client.cookies
    other.followed(other.post(where, fields | {"action": "confirm"}))
    assert home.status(note_id) == "active"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"person": {}}, "person=a dict does not fit"),
        ({"person": "ann"}, "person='ann' does not fit"),
        ({"person": {"user_id": 1}}, "person=a dict does not fit"),
        ({"sessions": ["one"]}, "sessions=a list does not fit"),
        ({"hosts": "localhost"}, "hosts='localhost' does not fit"),
        ({"hosts": []}, "hosts=a list does not fit"),
        ({"secret": "short"}, "at least 32 characters"),
    ],
)
def test_options_that_do_not_fit_are_refused_with_the_remedy(home, options, says):
    with pytest.raises(ConfigurationError, match=re.escape(says)):
        home.new_panel(**options)


def test_what_is_no_memory_and_no_graph_is_refused():
    memory = CreditedMemory()
    with pytest.raises(ConfigurationError, match="needs the memory first"):
        create_panel(object(), object(), person={"user_id": "me"})
    with pytest.raises(ConfigurationError, match="needs the compiled graph second"):
        create_panel(memory, object(), person={"user_id": "me"})
    with pytest.raises(ConfigurationError, match="still being built"):
        create_panel(memory, StateGraph(dict), person={"user_id": "me"})


def test_a_missing_extra_is_named(home, monkeypatch):
    import sys

    for name in [name for name in sys.modules if name.startswith("langmem_credit.panel.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette.types", None)
    with pytest.raises(MissingExtraError, match=r"langmem_credit\[panel\]"):
        home.new_panel()


def test_a_panel_with_a_sign_in_has_no_link(home):
    with pytest.raises(ConfigurationError, match="This panel has no link"):
        home.new_panel(person=by_header).link(ADDRESS)


def test_a_graph_without_a_checkpointer_is_said_to_need_one():
    from .graph_support import talk

    memory = CreditedMemory(scopes=[USER])
    it = talk(memory=memory, checkpointer=None, store=InMemoryStore())
    panel = create_panel(memory, it.agent, person={"user_id": "ann"}, sessions=lambda _: ["one"])
    browser = Browser(panel)
    browser.get(panel.link(""))
    answer = browser.get("/?scope=session")
    assert answer.status_code == 500
    assert "Give compile() or create_agent() a checkpointer" in answer.text
