"""One defect at a time in the core; does a test go red? `python -m tests.mutations [WORD]`.

Each mutation replaces one exact text in a copy of the package and runs the tests of that module
until the first failure. With WORD only the mutations run whose module or text holds it. Exit
status 1 when one survives.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from tests.benchmarks.reporting import table

ROOT = Path(__file__).parent.parent
SECONDS = 180
# Tests that find most defects of a module, fastest first.
TESTS = {
    "words": ("tests/test_words.py",),
    "contractions": ("tests/test_shift.py",),
    "agreement": ("tests/test_shift.py", "tests/test_credit.py"),
    "shift": ("tests/test_shift.py", "tests/test_credit.py"),
    "typography": ("tests/test_credit.py",),
    "units": ("tests/test_credit.py",),
    "pasting": ("tests/test_credit.py",),
    "voice": ("tests/test_credit.py",),
    "standing": ("tests/test_deciding.py", "tests/test_credit.py"),
    "openers": ("tests/test_credit.py",),
    "errands": ("tests/test_credit.py", "tests/test_languages.py"),
    "objects": ("tests/test_credit.py",),
    "statements": ("tests/test_credit.py",),
    "labels": ("tests/test_credit.py",),
    "smalltalk": ("tests/test_credit.py",),
    "clauses": ("tests/test_languages.py",),
    "endings": ("tests/test_languages.py", "tests/test_language_runs.py"),
    "letters": ("tests/test_words.py", "tests/test_languages.py"),
    "mixtures": ("tests/test_languages.py",),
    "neighbours": ("tests/test_credit.py", "tests/test_forgetting.py"),
    "questions": ("tests/test_credit.py",),
    "credit": ("tests/test_credit.py",),
    "claims": ("tests/test_credit.py",),
    "forgetting": ("tests/test_forgetting.py",),
    "forget_edges": ("tests/test_forgetting.py", "tests/test_languages.py"),
    "spoken": ("tests/test_forgetting.py", "tests/test_languages.py"),
    "values": ("tests/test_forgetting.py",),
    "forget_requests": ("tests/test_forgetting.py", "tests/test_languages.py"),
    "naming": ("tests/test_forgetting.py", "tests/test_languages.py"),
    "pieces": ("tests/test_forgetting.py", "tests/test_languages.py"),
    "corrections": ("tests/test_forgetting.py",),
    "ledger": ("tests/test_ledger.py",),
    "notebook": ("tests/test_notebook.py",),
    "digest": ("tests/test_digest.py",),
    "bounds": ("tests/test_bounds.py",),
    "drafts": ("tests/test_bounds.py",),
    "decisions": ("tests/test_tools.py",),
    "lines": ("tests/test_digest.py",),
    "secret_shapes": ("tests/test_scrubbing.py",),
    "secret_tokens": ("tests/test_scrubbing.py",),
    "secret_blocks": ("tests/test_scrubbing.py",),
}


@dataclass(frozen=True)
class Mutation:
    """One defect: `old` stands exactly once in the module and becomes `new`."""

    module: str
    old: str
    new: str

    @property
    def name(self) -> str:
        """Short enough for a table."""
        old, new = (" ".join(text.split())[:40] for text in (self.old, self.new))
        return f"{self.module}: {old} => {new or 'nothing'}"


def _m(module: str, *changes: tuple[str, str]) -> list[Mutation]:
    return [Mutation(module, old, new) for old, new in changes]


MUTATIONS = [
    *_m(
        "words",
        ('gap = space and ("\\n" if "\\n" in space else " ")', 'gap = space and " "'),
        (
            "_new(Token, (other, other, gap, start",
            '_new(Token, (other, other, "", start',
        ),
        ('if any(one.text == other.text == "."', 'if any(one.text == other.text == "x"'),
        (
            'unicodedata.normalize("NFC", text).translate',
            'unicodedata.normalize("NFKC", text).translate',
        ),
        ('return tokens[index + 1].gap != "" or not tokens[index + 1].word', "return True"),
        ("return not (token.word and first.islower())", "return True"),
        ('if token.low != lows[k] or token.gap == "\\n":', "if token.low != lows[k]:"),
        (
            'place = joined.find("\\x1f" + "\\x1f".join(wanted) + "\\x1f")',
            'place = joined.find("\\x1f" + "\\x1f".join(wanted))',
        ),
        ('if tokens[stop].text == "." and _is_abbreviation(tokens, stop):', "if False:"),
        ("mask[begin : index + 1] = [True] * (index + 1 - begin)", "mask[begin] = True"),
    ),
    *_m(
        "contractions",
        ("if not mask[index] and not code and not spoken_of:", "if not code and not spoken_of:"),
        ("spoken_of = fixed or _is_spoken_of(tokens, index, language)", "spoken_of = fixed"),
        ("spoken_of = fixed or", "spoken_of ="),
        ("token.text.isupper() and len(token.text) == 2", "False"),
        ("code = not alone and _touches_mark(tokens, index, _NAME_MARKS)", "code = False"),
        ('hyphened = not alone and _touches_mark(tokens, index, "-")', "hyphened = False"),
    ),
    *_m(
        "shift",
        (
            'if low in self.language.words("droppable_copula_before") or low.isdigit():',
            "if True:",
        ),
        ("return j == len(self.told) and", "return"),
        ("if i > 0 and j > 0 and said.gap != told.gap", "if False and said.gap != told.gap"),
        (
            "if said.text.lower() != told.text.lower() or said.quoted or said.code:",
            "if said.low != told.low:",
        ),
        ("if first and said.text[1:] == told.text[1:] and not", "if first and not"),
        ("and not (twice and len(said.text) == 1):", "and True:"),
        (
            "if twice or self.language is None or not said.text.isupper():",
            "if self.language is None:",
        ),
        ("        if i > self.odd:", "        if False:"),
        (
            'return lowered and said.low not in self.language.words("caps_ambiguous")',
            "return lowered",
        ),
        ("if self._ambiguous():", "if False:"),
        ('if word.low in language.words("reflexive"):', "if False:"),
        ("if word.hyphened and self._speaks_of_self(word.low):", "if False:"),
        ("return (0, 0) if self._is_in_name(i) else None", "return None"),
        ('if self.mode == "left_out" and not self.subject_seen:', "if False:"),
        ("return low in finite or not self.said[index].word", "return True"),
        ("if any(word.low in binding for word in self.said[index + 1 : index + 3]):", "if False:"),
    ),
    *_m(
        "agreement",
        (
            "    return frozenset([third_form(low, language)])\n\n\ndef left_out_forms",
            "    return frozenset([third_form(low, language), low])\n\n\ndef left_out_forms",
        ),
        ('if low.endswith("eed") and low not in language.words("past_eed"):', "if False:"),
        ('return _is_listed(low, "tenseless", language) and', "return False and"),
        ("low.startswith(prefix) and low.removeprefix(prefix) in words", "False"),
        ("if follower is None or index not in (4, 5, 6):", "if follower is None:"),
        ("if follower and not _is_one_of(said, index + 1, follower, language):", "if False:"),
        ('and _is_one_of(said, 1, "coordinated_behind", language)', "and True"),
        ("and not any(_is_one_of(said, thing, field, language) for field in common)", ""),
        ('and low not in language.words("not_adverbs")', ""),
    ),
    *_m(
        "typography",
        ("if message.isascii() and not told and", "if message.isascii() and"),
        ("(not _is_typed_twice(message) or _is_part(written, message))\n        and", ""),
        ("if two.gap and spaces.setdefault((one.low, two.low), space) != space:", "if False:"),
        ("and all(_keeps_order(family, message, written) for family in _FAMILIES)\n", "\n"),
        ("_quoted(stretch, message) == told and ", ""),
        (" and _spellings(stretch, message, twice) == kept", ""),
        ("return all(clean(quoted) == quoted for quoted in _quoted(tokens, text))", "return True"),
        ("found += [typed.lower()] if token.word and token.low in folded else []", ""),
    ),
    *_m(
        "units",
        (
            "if not inner and not _is_object(tokens, len(tokens) - length, language):",
            "if not inner:",
        ),
        ("if asks_about_state(order, language) or not _is_way(order, language):", "if False:"),
        (
            "if not _is_request(bare, language) and asks_about_ability(order, language):",
            "if False:",
        ),
        ("if not _is_request(bare, language) and asks", "if asks"),
        ("if count_words(tokens[index:]) < 2 or _goes_on(tokens, index, language):", "if False:"),
        (
            "return 0 if listed or _is_wording(tokens[: before + 1], language) else length",
            "return 0 if listed else length",
        ),
        (
            "return 0 if listed or _is_wording(tokens[: before + 1], language) else length",
            "return 0 if _is_wording(tokens[: before + 1], language) else length",
        ),
        ("return index < 2 or signed", "return False"),
        ('if language.phrases("openers_not_with").found_in(tokens):', "if False:"),
        ("return not placed or bool(near", "return bool(near"),
        (
            'return mark > 1 and tokens[mark - 2].low in language.words("copulas")',
            "return False",
        ),
        ('if not any(token.low in language.words("restrictors") for token in tokens):', "if True:"),
        ("if not is_order(order, language):", "if False:"),
        ("if length and order and _has_polite_sign(order, language):", "if length and order:"),
    ),
    *_m(
        "pasting",
        ("if _PASTED_ANYWHERE.search(text) or any(", "if any("),
        (" or any(map(_PASTED_LINE.match, lines))", ""),
        ("if _BLOCK_AFTER_COLON.search(text):", "if False:"),
        ("if len(text.strip().splitlines()) > 1 and any(", "if any(() for _ in "),
    ),
    *_m(
        "voice",
        ('if _unquoted(language.phrases("hypotheses"), tokens, mask) or', "if"),
        (
            'language.phrases("retractions").find(tokens) if not mask[index]]',
            'language.phrases("retractions").find(tokens) if False]',
        ),
        ("if _mostly_quoted(tokens) and", "if False and"),
        ('irony = [token.low for token in tokens[-2:]] == ["/", "s"]', "irony = False"),
        ("    if _reported(tokens, mask, language):", "    if False:"),
        ("        if reading.retracts:", "        if False:"),
        ("if reading.content & content or reading.names_nothing:", "if False:"),
        ('if _all_phrases("asked_reading").found_in(asked):', "if False:"),
        ("    if _handed_over(tokens, mask, language):", "    if False:"),
    ),
    *_m(
        "standing",
        ('if language.phrases("one_off").found_in(tokens[start:]):', "if False:"),
        ("if (timed and is_limited(tokens, language)) or passes(tokens, language):", "if False:"),
        ("if timed and is_for_now(tokens, language) and", "if False and"),
        ("if start >= len(tokens) or (timed and is_dated(tokens[start:], language)):", "if False:"),
        ("if all(only_points(part, language) for part in parts):", "if not parts:"),
        (
            "return all(_sentence_lasts(part, language) for part in parts)",
            "return any(_sentence_lasts(part, language) for part in parts)",
        ),
        ("nested > _MOST_NESTED", "False"),
    ),
    *_m(
        "openers",
        (
            "return (marked, True) if marked > free or not free else (free, False)",
            "return (marked, True) if not free else (free, False)",
        ),
        (
            (
                'language.phrases("openers_before_separator").match_at(tokens, index)\n'
                "    if length and separates(tokens, index + length):"
            ),
            'language.phrases("openers_before_separator").match_at(tokens, index)\n    if length:',
        ),
        ('tokens[index + length].text not in ",-"', "True"),
    ),
    *_m(
        "neighbours",
        ("if not reading.alone or named & reading.content:", "if not reading.alone:"),
        ("and not (before and _is_task(sentence, language))", ""),
        ("return len(heard) > _MOST_MESSAGES or size > _MOST_CHARACTERS", "return False"),
        ("any(reading.speaks for reading in before) and not _speaks_of_self(tokens)", "False"),
        ('if index and heard[index - 1].via == "paste" and', "if False and"),
        ("if any(reading.forgets for reading in behind) or", "if"),
        (" or taken_back(tokens, later):", ":"),
        ("if not all(reading.alone for reading in (*before, *behind)):", "if False:"),
        ("if any(reading.asks for reading in before):", "if False:"),
        ("if asked and asked & content_of(tokens):", "if False:"),
        (
            "    if len(other.text) > _READ:\n        return _Reading(",
            "    if False:\n        return (",
        ),
        ("if not _asks_alone(sentence, language):", "if False:"),
        ("if not asks_aside(asked) or", "if"),
        (
            "return plain and (not known or is_known(tail, language))",
            "return length > 0",
        ),
        (
            "return plain and (not known or is_known(tail, language, fields))",
            "return plain",
        ),
        ("return length < len(rest) and _is_plain_tail(rest, length, language)", "return True"),
        ("if any(rest[-1].low in language.words(field) for field in _OPEN_ENDS):", "if False:"),
    ),
    *_m(
        "questions",
        ("return tokens if all(token.word for token in tokens) else ()", "return tokens"),
        ("if takes_up and not _turns(", "if not _turns("),
        ("return len(front) > _FEW or len(rest) > _FEW or any(", "return any("),
        ("if core and core[0] and not _turns(", "if core and not _turns("),
        ("if _may_offer(asked, language) and said & _named(asked, language):", "if False:"),
    ),
    *_m(
        "errands",
        ("return any(not mask[index] and index not in lasting for index in places)", "return True"),
        ("            or index + length > words[-1]\n", ""),
        ('if low in language.phrases("polite_signs"):', "if False:"),
        ("        if token.low in borders:\n            return index\n", ""),
        ('    if language.phrases("requests").match_at(tokens, index):\n', "    if False:\n"),
        ("return not definite and language", "return language"),
    ),
    *_m(
        "objects",
        ("    return _chunk_end(tokens, start, end) >= end", "    return False"),
        (
            "        return behind >= end or _ends_object(tokens, behind, language)",
            "        return True",
        ),
        ("    return moved and", "    return False and"),
    ),
    *_m(
        "statements",
        ("    if _has_option(tokens, start):", "    if False:"),
        ("following.gap and joined)", "False)"),
    ),
    *_m(
        "labels",
        ("    if is_order(rest, language) or has_strong_sign(rest, language):", "    if False:"),
        (
            "return any(owner in sources or not _is_known(owner, language) for owner in owners)",
            "return False",
        ),
        ("    if _names_a_source(lead, language):", "    if False:"),
        ("    return named and count_words(rest) > _VALUE_WORDS", "    return named"),
    ),
    *_m(
        "smalltalk",
        ("if not length and (not tokens[index].word or tokens[index].low.isdigit()):", "if False:"),
    ),
    *_m(
        "endings",
        ("    if points(tokens, language):", "    if False:"),
        ("        return length > 0 and _is_manner", "        return _is_manner"),
        ("        return _is_manner(body, language) and not chains", "        return not chains"),
        ('    if language.phrases("turns").found_in(tokens):', "    if False:"),
        ("        if body and body[-1].low.endswith(duties):", "        if False:"),
        (
            "    return body is not None and not chains(body, language)",
            "    return body is not None",
        ),
    ),
    *_m(
        "mixtures",
        ("    return code in SCRIPTS and is_english(plain, english)", "    return False"),
        ("        if code != language.code\n", "        if False\n"),
    ),
    *_m(
        "letters",
        ("**_WIDTHS, **_QUOTES, **_DOUBLE_QUOTES, **_DASHES,", "**_WIDTHS, **_QUOTES, **_DASHES,"),
        (
            "    return not (is_syllable(tokens[index].text)",
            "    return True or not (is_syllable(tokens[index].text)",
        ),
    ),
    *_m(
        "clauses",
        ("    if openers and not _opens_sign(tokens, start, language):", "    if False:"),
        (" or not may_last(tokens[start:], language)", ""),
        ("    if _errs_first(tokens, start, language):", "    if False:"),
        ("    if asks_first(tokens[start:], language) or", "    if"),
    ),
    *_m(
        "credit",
        ("    if touched:\n", "    if False:\n"),
        ("if not note.strip() or not said.strip():", "if False:"),
        ("if count_words(quote) < 2:", "if False:"),
        ("if not _stands_in(said, quote, heard[index], tokens):", "if False:"),
        (
            "    if len(utterance.text) > limits.said:\n        return _refusal",
            "    if False:\n        return _refusal",
        ),
        ("if one.typed and (not inputs or one.speaker == asker)", "if one.typed"),
        ("if answers_about_text(utterance, unit.shortest):", "if False:"),
        ("if utterance.asked and not has_own_sign(unit.tokens, language):", "if False:"),
        ("if not _says(unit, told, language) or not", "if not"),
        (" or not _keeps_marks(unit, utterance.text, told, note)", ""),
        ("token.low.endswith(endings) or any(token.low in", "any(token.low in"),
        ('if rest > quoted and note[rest - 1].text in ":\\uff1a":', "if True:"),
        ("if not (front or behind) or places.found_in(unit):", "if not (front or behind):"),
        ("len(text) > limits.note:", "False:"),
    ),
    *_m(
        "claims",
        ("if about and not _names(about, utterance, tokens, language):", "if False:"),
        ("if core and not (language and _calls_important(tokens, language)):", "if False:"),
        ("if not any(token.low in negations for token in near):", "if True:"),
        ("if not _belongs_to_noun(tokens, index, index + length, language):", "if True:"),
        ("return place is not None and _is_name(tokens, *place, language)", "return bool(place)"),
    ),
    *_m(
        "forgetting",
        ("find_quote(said, utterance.text)\n    ]", "True\n    ]"),
        ("        if touched:\n", "        if False:\n"),
        ("if not all(same_source(note, other) for other in named):", "if False:"),
        ("return not note.speaker or note.speaker == asker", "return True"),
        ("if request.exact and not says_exactly(", "if False and not says_exactly("),
        ("if before and leads_on(heard[before - 1]):", "if False:"),
    ),
    *_m(
        "forget_requests",
        ("is_imagined_or_reported(sentence, one) for one in {", "False for one in {"),
        ("if ends_in_question(sentence) and not polite:", "if False:"),
        ("or _is_personal(said, language)\n        if plain", "or True\n        if plain"),
        ("if about and _is_personal(", "if about or _is_personal("),
        ("            and vocabulary.abouts.match_at(said, index + length)\n", ""),
        ("if length and (in_memory or _holds_memory(body[length:], language)):", "if length:"),
        ("        and _ends_thing(said, index + length, language)\n", ""),
        ("or not stores.match_at(said, index))", "or True)"),
        ("if _is_worried(sentence, start, language):", "if False:"),
        ("if _is_title_or_idiom(body[length:], language) or _is_task(", "if _is_task("),
        ("or _is_task(said, language):", "or False:"),
        ("exact = not known and not _holds_memory(before, language)", "exact = False"),
        ("if not topics.match_at(body, 0) and asks(body, language):", "if False:"),
        ("        if trim(behind):\n            return None\n", ""),
    ),
    *_m(
        "naming",
        ("    if spoken.excepts:\n        return\n", ""),
        ("if denied is not None and _may_be_clause(", "if False and _may_be_clause("),
        (
            "    if any(is_unspaced(token.low) for token in tokens):",
            "    if False:",
        ),
        ("        if following and token.low in vocabulary.clause_words:", "        if False:"),
        ("if any(is_among(word, denied) for word in spoken.content):", "if False:"),
        ("    return bool(told) and not asked <= told", "    return False"),
        ("any(is_among(word, own) for word in part.anchors)", "True"),
        ("spoken.vocabulary.inflected and _is_clause(spoken)", "False"),
        ("    common = _common(len(rivals) + 1)", "    common = 9_999"),
        ("        and not _better(part, note, rivals)\n", ""),
        ("or not all(map(_opens_object, parts[1:]))", "or False"),
        ("        return piece.low in _QUOTES\n", "        return True\n"),
        ("forms=_is_clear(part, note)", "forms=True"),
    ),
    *_m(
        "pieces",
        (
            "return frozenset(found if keep_all else found - _blank_words())",
            "return frozenset(found)",
        ),
        ("        return all(rest in _ENDINGS for rest in rests)", "        return True"),
    ),
    *_m(
        "corrections",
        ('if language.phrases("conditionals").found_in(tokens):', "if False:"),
        ("        if said and _same(said, told, language):", "        if said:"),
        ("or not _same(said[:place], before, language):", "or False:"),
        ("    if not _has_sign(new, language):\n        return ()\n    opened", "    opened"),
        ("return () if limited else _plain(bare, language)", "return _plain(bare, language)"),
        ("or len(left_for) != _MOST_LEFT:", "or False:"),
        ("if any(token.low in others and token.low not in known for token in new):", "if False:"),
        ("    if persons.found_in(old) != persons.found_in(new):", "    if False:"),
        (
            "    if not is_another_value(old, new, language, opened=len(new) < opened):",
            "    if False:",
        ),
        ("return not told or told == persons.found_in(new)", "return True"),
        ("        if len(told) > place + len(denied):\n            continue\n", ""),
        ("match_at(new, 0)\n    if length:", "match_end(new)\n    if length:"),
    ),
    *_m(
        "values",
        ("return kinds[0] == kinds[1] and", "return"),
        ('any(mark in kinds[0] for mark in "#@^%")', "True"),
        ("if one.isdigit() and other.isdigit() and len(one) != len(other):", "if False:"),
        ("cased = tokens[place].text.islower()", "cased = True"),
        ("if _are_opposites(one, other, language):", "if False:"),
        ("titled and word.isalpha() and not", "titled or not"),
    ),
    *_m(
        "spoken",
        ("_count_former(fillers, aside, tokens, vocabulary)\n    ordinals", "ordinals"),
        ("if not ordinal and not (", "if not ("),
        ("            mask[index] = True\n", "            pass\n"),
    ),
    *_m(
        "forget_edges",
        (
            "return body[:index] if lets_go(tail, language) and not again",
            "return body[:index] if not again",
        ),
        ("lets_go(tail, language) and not again else", "lets_go(tail, language) else"),
    ),
    *_m(
        "ledger",
        ("_differ(event, other) and _rank(event) < _rank(other)", "_differ(event, other)"),
        ("if trims else kept.values(), key=order)", "if trims else kept.values(), key=id)"),
        (
            "    if present > newest:\n        return present",
            "    if True:\n        return present",
        ),
        ("if not held(event)), default", "), default"),
    ),
    *_m(
        "notebook",
        ('event.get("credited") is True and not held(event)', 'event.get("credited") is True'),
        ("elif note_id in self.born:", "elif False:"),
        (
            "        if held(event):\n            self._ignore",
            "        if False:\n            self._ignore",
        ),
        ('if event.get("hash") != draft.text_hash:', "if False:"),
        ("if draft.ended or draft.superseded_by:", "if False:"),
        ('if one.ended != "forgotten":', "if True:"),
    ),
    *_m(
        "digest",
        (
            'text.encode("utf-8", "surrogatepass")) <= limits.digest',
            'text.encode("utf-8", "surrogatepass")) <= 10 * limits.digest',
        ),
        ('if note.origin not in ("person", "agent"):', "if False:"),
        ('elif not owner or owner == (speaker or ""):', "elif True:"),
        (
            "movable = [note.id for note in notes[:-1] if note.id not in core]",
            "movable = [note.id for note in notes]",
        ),
        (
            "active = sorted(notebook.active, key=lambda note: (_since(note), note.at, note.id))",
            "active = list(notebook.active)",
        ),
    ),
    *_m(
        "bounds",
        ("if waiting and used + more > limits.waiting_bytes:", "if False:"),
        ("if used + more > limits.live_bytes:", "if False:"),
        ('if event.get("hash") != text_hash(note.text):', "if False:"),
        ("    if note.shrunk:\n", "    if False:\n"),
        ('or "" < heard_of(one)[0] <= last', "or False"),
        ("late=late_births(self.ledger) - going", "late=()"),
    ),
    *_m("drafts", ("heard_at <= until < instant(", "heard_at < '' < instant(")),
    *_m(
        "decisions", ("if max(writes, session.calls_before(call)) >= limit:", "if writes >= limit:")
    ),
    *_m("lines", ('return before + image + _TARGET.sub("] ", rest)', "return line")),
    *_m(
        "secret_shapes",
        ("% 97 == 1:", "% 97 < 97:"),
        ("if all(len(part) == 16 and _is_card(part) for part in parts):", "if True:"),
        ("(?=[^\\s@]{0,128}[!#$%^&*~])", ""),
    ),
    *_m("secret_tokens", ("and _has_digit(second) and not worded:", "and _has_digit(second):")),
    *_m(
        "secret_blocks",
        ("if not prose or any(map(_KEY_LINE.match,", "if not prose or all(map(str,"),
    ),
]


class Workshop:
    """Copies of the project in which one thing at a time is wrong."""

    def __init__(self, folder: Path, number: int) -> None:
        self.copies: Queue[Path] = Queue()
        for index in range(number):
            copy = folder / str(index)
            for name in ("langmem_credit", "tests"):
                shutil.copytree(
                    ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__")
                )
            shutil.copy(ROOT / "pyproject.toml", copy)
            self.copies.put(copy)

    @contextmanager
    def copy(self) -> Iterator[Path]:
        """A copy that nobody else works in."""
        copy = self.copies.get()
        try:
            yield copy
        finally:
            self.copies.put(copy)

    def is_killed(self, mutation: Mutation) -> bool:
        """True when a test goes red.

        Raises:
            LookupError: the text to replace does not stand exactly once in the module.
        """
        with self.copy() as copy:
            path = copy / "langmem_credit" / f"{mutation.module}.py"
            before = path.read_text(encoding="utf-8")
            if before.count(mutation.old) != 1:
                raise LookupError(f"{mutation.name}: {before.count(mutation.old)} times there")
            path.write_text(before.replace(mutation.old, mutation.new), encoding="utf-8")
            try:
                return not passes(copy, TESTS[mutation.module])
            finally:
                path.write_text(before, encoding="utf-8")


def passes(copy: Path, tests: Sequence[str]) -> bool:
    """True when the tests are green in that copy; a test that hangs is red."""
    environment = {
        **os.environ,
        # Byte code is trusted by time and size, which a mutation may share with the original.
        "PYTHONDONTWRITEBYTECODE": "1",
        "CI": "true",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def run(mutations: Sequence[Mutation], workers: int = 2) -> dict[Mutation, bool]:
    """Which mutations are killed.

    Raises:
        LookupError: the tests are red without any mutation, or a mutation fits nowhere.
    """
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        workshop = Workshop(Path(folder), workers)
        with ThreadPoolExecutor(workers) as pool:
            files = sorted({file for one in mutations for file in TESTS[one.module]})

            def is_green(file: str) -> bool:
                with workshop.copy() as copy:
                    return passes(copy, [file])

            red = [
                file
                for file, green in zip(files, pool.map(is_green, files), strict=True)
                if not green
            ]
            if red:
                raise LookupError(f"red without any mutation: {', '.join(red)}")
            killed = pool.map(workshop.is_killed, mutations)
            return dict(zip(mutations, killed, strict=True))


def main(arguments: Sequence[str]) -> int:
    """Prints the table; 1 when a mutation survives."""
    chosen = [one for one in MUTATIONS if all(word in one.module + one.old for word in arguments)]
    results = run(chosen)
    rows = ((one.name, "killed" if killed else "SURVIVED") for one, killed in results.items())
    print(table(("mutation", "result"), rows))
    print(f"\n{sum(results.values())} of {len(results)} killed")
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
