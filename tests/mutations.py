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
    "shift": ("tests/test_shift.py", "tests/test_credit.py", "tests/test_languages.py"),
    "typography": ("tests/test_credit.py",),
    "closers": ("tests/test_credit.py",),
    "units": ("tests/test_credit.py", "tests/test_languages.py"),
    "pasting": ("tests/test_credit.py",),
    "voice": ("tests/test_credit.py",),
    "retractions": ("tests/test_credit.py",),
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
    "credit": ("tests/test_credit.py", "tests/test_spoken_languages.py"),
    "edges": ("tests/test_credit.py",),
    "obstacles": ("tests/test_credit.py", "tests/test_languages.py"),
    "suggesting": ("tests/test_credit.py", "tests/test_sentences.py"),
    "asides": ("tests/test_credit.py", "tests/test_sentences.py"),
    "sentences": ("tests/test_credit.py", "tests/test_sentences.py"),
    "gerunds": ("tests/test_credit.py",),
    "lists": ("tests/test_sentences.py",),
    "claims": ("tests/test_credit.py",),
    "forgetting": ("tests/test_forgetting.py",),
    "forget_edges": ("tests/test_forgetting.py", "tests/test_languages.py"),
    "spoken": ("tests/test_forgetting.py", "tests/test_languages.py"),
    "values": ("tests/test_forgetting.py",),
    "forget_requests": ("tests/test_forgetting.py", "tests/test_languages.py"),
    "naming": ("tests/test_forgetting.py", "tests/test_languages.py"),
    "pieces": ("tests/test_forgetting.py", "tests/test_languages.py"),
    "corrections": ("tests/test_forgetting.py",),
    "reversals": ("tests/test_forgetting.py",),
    "ledger": ("tests/test_ledger.py", "tests/test_touched.py"),
    "notebook": ("tests/test_notebook.py",),
    "digest": ("tests/test_digest.py",),
    "bounds": ("tests/test_bounds.py",),
    "drafts": (
        "tests/test_bounds.py",
        "tests/test_dates.py",
        "tests/test_findings.py",
        "tests/test_closing.py",
    ),
    "kin": ("tests/test_findings.py",),
    "places": ("tests/test_findings.py", "tests/test_bad_input.py", "tests/test_sharing.py"),
    "decisions": ("tests/test_findings.py", "tests/test_tools.py"),
    "lookback": ("tests/test_findings.py",),
    "recall": ("tests/test_closing.py",),
    "summary": ("tests/test_closing.py",),
    "ending": ("tests/test_closing.py",),
    "touched": ("tests/test_touched.py",),
    "compaction": ("tests/test_compaction.py",),
    "heard": ("tests/test_compaction.py",),
    "lines": ("tests/test_digest.py",),
    "register": ("tests/test_sessions.py",),
    "enrolling": ("tests/test_sessions.py",),
    "owners": ("tests/test_sessions.py",),
    "sessions": ("tests/test_closing.py", "tests/test_sessions.py", "tests/test_searching.py"),
    "desk": ("tests/test_sessions.py", "tests/test_searching.py"),
    "matching": ("tests/test_searching.py",),
    "searching": ("tests/test_searching.py",),
    "transcripts": ("tests/test_closing.py", "tests/test_searching.py"),
    "checkpoints": ("tests/test_searching.py",),
    "orders": ("tests/test_sharing.py",),
    "secret_shapes": ("tests/test_scrubbing.py",),
    "secret_tokens": ("tests/test_scrubbing.py",),
    "secret_blocks": ("tests/test_scrubbing.py",),
    "notes": ("tests/test_bad_input.py",),
    "chroma_index": ("tests/test_bad_input.py",),
    "chroma_opening": ("tests/test_index_failures.py",),
    "review/differing": ("tests/test_review_rows.py",),
    "review/rows": ("tests/test_review_rows.py",),
    "panel/desk": ("tests/test_panel.py",),
    "panel/doors": ("tests/test_panel.py",),
    "panel/entrance": ("tests/test_panel.py",),
    "panel/shield": ("tests/test_panel.py",),
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
        ("return bound.match_at_words(self.said, k) != size - k", "return k < size"),
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
            'if said.low not in self.language.words("emphasis") or len(said.text) < 2:',
            "if len(said.text) < 2:",
        ),
        ("named = index > 0 and self.said[index - 1].low in self._articles", "named = False"),
        ("if self.all_caps and is_common(self.said, index, self.language):", "if self.all_caps:"),
        ("if self._ambiguous():", "if False:"),
        ("return not following or (", "return True or ("),
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
        "closers",
        (
            "if not inner and not _is_object(tokens, len(tokens) - length, language):",
            "if not inner:",
        ),
        (
            "return 0 if listed or _is_wording(tokens[: before + 1], language) else length",
            "return 0 if listed else length",
        ),
        (
            "return 0 if listed or _is_wording(tokens[: before + 1], language) else length",
            "return 0 if _is_wording(tokens[: before + 1], language) else length",
        ),
        ("return index < 2 or (signed and not placed)", "return False"),
        ("return not placed or bool(near", "return bool(near"),
        (
            'return mark > 1 and tokens[mark - 2].low in language.words("copulas")',
            "return False",
        ),
        ('if not any(token.low in language.words("restrictors") for token in tokens):', "if True:"),
    ),
    *_m(
        "units",
        ("if asks_about_state(order, language) or not _is_way(order, language):", "if False:"),
        (
            "if not _is_request(bare, language) and asks_about_ability(order, language):",
            "if False:",
        ),
        ("if not _is_request(bare, language) and asks", "if asks"),
        ("if count_words(tokens[index:]) < 2 or _goes_on(tokens, index, language):", "if False:"),
        ('if language.phrases("openers_not_with").found_in(tokens):', "if False:"),
        (
            'if language.phrases("openers_not_before_self").match_end(tokens[begin:end]):',
            "if False:",
        ),
        ('if language.phrases("polite_abilities").found_in(order):', "if False:"),
        ("if own or (not _is_request(bare", "if (not _is_request(bare"),
        ("if not is_order(order, language):", "if False:"),
        ("if length and order and _has_polite_sign(order, language):", "if length and order:"),
    ),
    *_m(
        "pasting",
        ("if (signed and _PASTED_ANYWHERE.search(text)) or any(", "if any("),
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
        ("    if _handed_over(tokens, mask, language):", "    if False:"),
    ),
    *_m(
        "retractions",
        ("        if reading.retracts:", "        if False:"),
        ("if reading.content & content or reading.names_nothing:", "if False:"),
        ('if _all_phrases("asked_reading").found_in(asked):', "if False:"),
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
        "reversals",
        ("or now.opening != before.opening:", "or False:"),
        ("now.denied != before.chosen", "False"),
        ("if not any(one.found_in(new) for one in signs):", "if False:"),
        ("if any(token.gap for token in tokens[1:]):", "if False:"),
        ("return not any(token.low in other for token in tokens)", "return True"),
    ),
    *_m(
        "openers",
        ("if sharing > free and _opens_clause(tokens, index + sharing, language):", "if sharing:"),
        ("    if sharing > free and", "    if False and"),
        (
            "return (marked, True) if marked > free or not free else (free, False)",
            "return (marked, True) if not free else (free, False)",
        ),
        (
            "if length and separates(tokens, index + length):\n            mark",
            "if length and index + length < len(tokens):\n            mark",
        ),
        ("if mark not in without:", "if True:"),
        ("topics.match_at(tokens, index) == length:", "False:"),
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
        ("if not asks_alone(sentence, language):", "if False:"),
        ("if not asks_aside(asked) or", "if"),
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
        ("        _pauses(body, index) and not joining", "        False and not joining"),
        (
            "token.low.endswith(endings) and index not in other and",
            "token.low.endswith(endings) and",
        ),
        (
            "    return behind == len(tokens) or tokens[behind].low not in going_on",
            "    return True",
        ),
        ("    return 0 < length < len(bare) and _IS_NAME", "    return False and _IS_NAME"),
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
        ("    return code in ALL_SCRIPTS and is_english(plain, english)", "    return False"),
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
        ("if not note.strip() or not said.strip():", "if False:"),
        ("if count_words(quote) < 2:", "if False:"),
        ("if not _stands_in(said, quote, heard[index], tokens):", "if False:"),
        (
            "    if len(utterance.text) > limits.said:\n        return _refusal",
            "    if False:\n        return _refusal",
        ),
        ("if not says_in_any(stretch, told) or not", "if not"),
        (" or not keeps_marks(unit, utterance.text, told, note):", ":"),
    ),
    *_m(
        "obstacles",
        ("    if touched:\n", "    if False:\n"),
        ("if answers_about_text(utterance, unit.shortest):", "if False:"),
        ("if utterance.asked and not has_own_sign(unit.tokens, language):", "if False:"),
        ("if not stretch.lasting and not lasts(sentences, language):", "if False:"),
        ("        if holds_errand(unit.tokens, other):", "        if False:"),
    ),
    *_m(
        "suggesting",
        ("if one.typed and (not inputs or one.speaker == asker)", "if one.typed"),
        ("len(text) > limits.note:", "False:"),
        ("if text is not None and not find_obstacle(stretch)[0]:", "if text is not None:"),
        ("found.sort(key=lambda one: one[:2])", "pass"),
        ("found.sort(key=lambda one: one[:2])", "found.sort(key=lambda one: one[1])"),
    ),
    *_m(
        "asides",
        (
            "return plain and (not known or is_known(tail, language))",
            "return length > 0",
        ),
        (
            "return plain and (not known or is_known(tail, language, fields))",
            "return plain",
        ),
        ("return length < len(rest) and _is_plain_tail(rest, length, language)", "return True"),
        ("if any(rest[-1].low in language.words(field) for field in _GOING_ON):", "if False:"),
        ("    if any(rest[-1].low in language.words(field) for field in ends):", "    if False:"),
        ('        elif token.low.partition("\'")[0] in denied or', "        elif"),
        (" or _is_anothers(rest, index, language):", ":"),
        (
            "            if following is None or following.low not in shown:",
            "            if False:",
        ),
        ("            if not (joint or token.text in _MARKS):", "            if False:"),
        ("Aside(rest[length].low in making, names=True)", "Aside(names=True)"),
        ("Aside(rest[0].low in making, names=True)", "Aside(names=True)"),
        ("Aside(opens=True, names=True)", "Aside(names=True)"),
        ("length = length if any(token.low in people for token in rest) else 0", "pass"),
        ('Aside(names=language.phrases("aside_things").match_at(rest, 0) > 0)', "Aside()"),
    ),
    *_m(
        "sentences",
        ('if utterance.via != "input" or utterance.asked:', "if False:"),
        ("    if any(is_request_in(one, language) for one in sentences):", "    if False:"),
        ("if any(bound[first:last]) or _is_gone_on", "if _is_gone_on"),
        (" or _is_gone_on(sentences, last, language):", ":"),
        ("if any(token.text[0].isupper() for token in tokens):", "if False:"),
        ("if any(one[-1].text not in _STOPS or not one[-2:][0].word for", "if any(False for"),
    ),
    *_m(
        "gerunds",
        ("and _is_yours(unit, begin, language):", "and True:"),
        ("    if not main or not is_order(main, language):", "    if False:"),
        ("        token.low in denied or (index", "        (index"),
        ("or (index and token.word and token.text.istitle())", ""),
        ('    return frozenset({f"{verb}ing"})\n', "    return frozenset()\n"),
    ),
    *_m(
        "lists",
        ("    if len(marks) != 1 or", "    if"),
        ("if not kind or not all(_is_aside(line, language) for", "if not kind or any(False for"),
        ("    if any(_touches(tokenize(item.text), language) for item in items):", "    if False:"),
        ("if any(named[place] & other for k, other in", "if any(False for k, other in"),
        ('        if kind == "facts" and is_order(', "        if False and is_order("),
        ('lasting=kind != "either")', "lasting=True)"),
        ('if not item or item[0].low in language.words("list_not_first"):', "if not item:"),
        ("in denied or token.text in _OPEN_MARKS", "in denied"),
        ('        and item[1].text == ","\n', "        and False\n"),
        ('        token.low.partition("\'")[0] in denied or token', "        token"),
        ('if not any(token.low in language.words("aside_not") for token in named):', "if True:"),
    ),
    *_m(
        "edges",
        ("token.low.endswith(endings)\n            or any(token.low in", "any(token.low in"),
        ('if rest > quoted and note[rest - 1].text in ":\\uff1a":', "if True:"),
        ("if not (front or behind) or places.found_in(unit):", "if not (front or behind):"),
        ('if language.phrases("place_others").found_in(unit):', "if False:"),
        ("        index not in pairs\n        and (", "        (True) and ("),
        ("        if told and told[0].text == first.low:", "        if False:"),
        ('counts = mark == ":" or _is_used(tokens, end, language)', "counts = True"),
        ('counts = mark == ":" or _is_used(', "counts = _is_used("),
        ('    if mark == ":" or (mark and _is_used(tokens, end, language)):', "    if False:"),
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
        ("return corrects(text_of(request.said, request.utterance.text), note, notes)", "pass"),
        ("if not all(same_source(note, other) for other in named):", "if False:"),
        ("return not note.speaker or note.speaker == asker", "return True"),
        ("if request.exact and not says_exactly(", "if False and not says_exactly("),
        ("if before and leads_on(heard[before - 1]):", "if False:"),
    ),
    *_m(
        "forget_requests",
        (
            "            return None\n        if lies_elsewhere(said, language):",
            "            return None\n        if False:",
        ),
        ("and said[index + length - 1].low in things", "and False"),
        ("is_imagined_or_reported(sentence, one) for one in {", "False for one in {"),
        ("if ends_in_question(sentence) and not polite:", "if False:"),
        ("or is_personal(said, language)\n        if plain", "or True\n        if plain"),
        ("if about and is_personal(", "if about or is_personal("),
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
        ("forms=_is_clear(part, note))\n        and", "forms=True)\n        and"),
        ("        if says_whole(spoken, note)\n        or (", "        if ("),
        (
            "        not is_rare(part.words, note, rivals,",
            "        is_rare(part.words, note, rivals,",
        ),
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
        (
            (
                "        return ()\n    now = _without(_behind_sign(new, language), "
                'language.phrases("correction_signs"))\n    other'
            ),
            "        pass\n    now = new\n    other",
        ),
        (
            "        return ()\n    chosen = [",
            "        pass\n    chosen = [",
        ),
        ("any(set(chosen) <= set(group) for group in groups)", "True"),
        ("if opened and opened + len(denied) ==", "if opened + len(denied) <"),
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
        ("if len(words) < _LEAST_WHOLE or not spoken.anchors:", "if False:"),
        ("return words == told or (bool(turned)", "return words == told or (False"),
        ("_count_former(fillers, aside, tokens, vocabulary)\n    ordinals", "ordinals"),
        ("if not ordinal and not (", "if not ("),
        ("            mask[index] = True\n", "            pass\n"),
    ),
    *_m(
        "forget_edges",
        ("return clause if ended else ()", "return clause"),
        (
            "return body[:index] if lets_go(tail, language) and not again",
            "return body[:index] if not again",
        ),
        ("lets_go(tail, language) and not again else", "lets_go(tail, language) else"),
    ),
    *_m(
        "ledger",
        ("_differ(event, other) and _rank(event) < _rank(other)", "_differ(event, other)"),
        ("sorted(left, key=order))", "sorted(left, key=id))"),
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
        ("if named and not _HASH_WORDS.search(before):", "if named:"),
        ("        if named and not", "        if not"),
        ("% 97 == 1:", "% 97 < 97:"),
        ("if all(len(part) == 16 and _is_card(part) for part in parts):", "if True:"),
        ("(?=[^\\s@]{0,128}[!#$%^&*~])", ""),
    ),
    *_m("places", ("if strict.granted and named.speaker == NOBODY:", "if False:")),
    *_m(
        "orders",
        ("if self._runs_on(_chunks(kept)):", "if False:"),
        ("if article and length and index > verb + 1:", "if False:"),
        ('or (length > 1 and not ends and not before.endswith("ed"))', "or False"),
    ),
    *_m("secret_tokens", ("and _has_digit(second) and not worded:", "and _has_digit(second):")),
    *_m("places", ("or not session.books or asked in names:", "or True:")),
    *_m("notes", ("if not isinstance(value, str):", "if False:")),
    *_m("chroma_index", ('return b"\\0" not in os.fsencode(place)', "return True")),
    *_m("chroma_opening", ("            if gone:\n", "            if False:\n")),
    *_m(
        "secret_blocks",
        ("if not prose or any(map(_KEY_LINE.match,", "if not prose or all(map(str,"),
    ),
    *_m(
        "drafts",
        ("if self.credited or self.confirmed_by or held(event):", "if self.credited:"),
        ("if key not in against}", "}"),
        ('if stranger and kind == "finding":', "if False:"),
        ('groups.setdefault("" if draft.waits else draft.family, [])', 'groups.setdefault("", [])'),
        ('event["outcome"] is True and not stranger', 'event["outcome"] is True'),
        ("return heard_at if heard_at[:10] < at[:10] and heard_at else at", "return at"),
    ),
    *_m("kin", ("if not own or one.family == family)]", ")]")),
    *_m(
        "places",
        ("== FINDING and not verdict.credited", "== FINDING"),
        ("return note if note in session.notebook.findings else None", "return note"),
    ),
    *_m(
        "decisions",
        ('return "fact" if normalise_kind(kind) == FINDING else kind', "return kind"),
        ("if same is not None and replaced in (None, same):", "if False:"),
    ),
    *_m(
        "lookback",
        ("return any(True for _ in _phrases()", "return False and any(True for _ in _phrases()"),
    ),
    *_m(
        "recall",
        ("files[-FILES_SHOWN:]", "files[:FILES_SHOWN]"),
        ("return [note for note in shown if not note.active][:_LATEST]", "return []"),
    ),
    *_m(
        "summary",
        ("strict=True)) > _SENTENCES:", "strict=True)) > 99:"),
        ("if len(facts or []) > FACTS:", "if False:"),
        ("if len(text) > limits.note:", "if False:"),
        ("if not clean(text).strip():", "if False:"),
        ('line = f"{who}: {quoted(scrub(shown).text)}{cut}"', 'line = f"{who}: {shown}{cut}"'),
    ),
    *_m(
        "ending",
        ("if not (words - function_words() or words) <= told:", "if False:"),
        ("if any(note.status in _SETTLED or note.thread == thread for note in same):", "if False:"),
        ("older in older_facts(view) and older not in same", "older is not None"),
        ('if who in ("person", "agent")', "if True"),
        ("or book.closed or book.scope.people:", "or book.closed:"),
        ("if note.thread == name_of(thread)]", "]"),
    ),
    *_m(
        "touched",
        ("if size > _CALL_BYTES:", "if False:"),
        ("return list(paths)[:_A_CALL]", "return list(paths)"),
        ("found.pop(path, None)", "pass"),
        ("if scrub(path).found:", "if False:"),
        ("while sum(len(path.encode()) for path in held) > _HELD_BYTES:", "while False:"),
    ),
    *_m(
        "compaction",
        ("if not all(map(is_summary, gone)):", "if gone:"),
        ("recorded=False, digest=None, gone=()", "recorded=False, gone=()"),
        ("return texts[:MOST_FINDINGS]", "return texts"),
        ("if refusal(session.notebook, event, limits):", "if False:"),
        ("as_of=as_of, first=compaction.first", "first=compaction.first"),
    ),
    *_m(
        "heard",
        (
            'for message in messages if not is_summary(message)), "")',
            'for message in messages), "")',
        ),
    ),
    *_m(
        "register",
        ("line = one_line(scrub(text[:_LOOKED_AT]).text)", "line = one_line(text)"),
        ("title=before.title or short(", "title=short("),
        ("archived=ARCHIVED in marks,", "archived=False,"),
        ("trashed=TRASHED in marks,", "trashed=False,"),
        ("if same and known is not None and", "if False and"),
        (
            'event.get("type") == "marked" and not held(dict(event))',
            'event.get("type") == "marked"',
        ),
    ),
    *_m("enrolling", ("if place[:-1] != (*labels, _SESSIONS) or value is None:", "if False:")),
    *_m("ledger", ("                older.add(newest[name])", "                pass")),
    *_m("owners", ("[scope for scope in settings.scopes if not scope.people]", "settings.scopes")),
    *_m(
        "sessions",
        ("    if entry.trashed:\n", "    if False:\n"),
        ("books.do(drop_outcome(at.desk.settings, at.where, session_id))\n        if", "if"),
        ("desk.cache.forget(desk.saver, session_id)", "pass"),
    ),
    *_m(
        "desk",
        ("if one.whose == desk.owner]", "]"),
        ("        return whose == desk.owner\n", "        return True\n"),
        ("if not whose and not look.count:", "if not whose:"),
        ("if look is None or not look.facts.has_memory or", "if look is None or"),
    ),
    *_m(
        "matching",
        ("return text.lower().replace(", "return text.replace("),
        ("key=lambda hit: not hit.in_title)[:limit]", "key=lambda hit: 0)[:limit]"),
        ("shown = one_line(scrub(line).text)", "shown = line"),
    ),
    *_m(
        "searching",
        ("if not entry.trashed]", "]"),
        ("self._newest[key] = mine", "self._newest.setdefault(key, mine)"),
        ("elif not missing(words, fold_text(f", "elif False and not missing(words, fold_text(f"),
        ("scan.more += 1", "pass"),
        ("scan.unreadable.add(entry.id)", "pass"),
        ("yield scan.progress(done=not entries)", "yield scan.progress(done=not scan.hits)"),
    ),
    *_m(
        "transcripts",
        ("if text.strip() and (everything or role != TOOL):", "if text.strip():"),
        ("self._kept.move_to_end(key)", "pass"),
        ("while self._chars > self._most_chars:", "while False:"),
        ("if isinstance(message, HumanMessage) and not made_by_code(message):", "if True:"),
    ),
    *_m("checkpoints", ('if one.checkpoint.get("id") != self._wanted:', "if False:")),
    *_m(
        "review/differing",
        ("keys[first] = tokens[first].low", "pass"),
        ("if at < width and lengths[row_at][at] > lengths[row_at + 1][at]:", "if at < width:"),
        ("if len(indexes) * (end - start) > _MOST_PAIRS:", "if False:"),
    ),
    *_m(
        "review/rows",
        ("if note.origin not in ", "if note.origin in "),
        ("    if not mine:\n        return None\n", ""),
        ("if note.shrunk or note.why in STOOD_FOR:", "if note.shrunk:"),
        ("if rule == _UNVERIFIED:\n        knowledge", "if False:\n        knowledge"),
        ('elif not note.verdict.get("utterance"):', "elif False:"),
        ("note.said if note.edited else note.text", "note.text"),
        (" and not note.edited:", ":"),
        ("number = min(max(1, number), count)", "number = max(1, number)"),
        (
            "return all(word in text for word in words)",
            "return any(word in text for word in words)",
        ),
        ("return me is None or note.speaker == me", "return True"),
    ),
    *_m(
        "panel/desk",
        ("alone = replace(self.memory, scopes=(scope,))", "alone = self.memory"),
        ("if shown_hash(note.text) != shown:", "if False:"),
        ("if action not in actions_of(note, self.me):", "if False:"),
        ("if note is None or section_of(note, self.me) is None:", "if note is None:"),
        ("if session not in self.session_names:", "if False:"),
        ('self._done("restore", older)', "pass"),
        ("by = self.me or PERSON", "by = PERSON"),
        ("closed=book.closed)", 'closed="")'),
    ),
    *_m(
        "panel/doors",
        ("if visit.fresh or not ours:", "if visit.fresh:"),
        ("if self.entrance is None or not self.entrance.admits(ticket):", "if False:"),
        ("if not is_person(values):", "if not isinstance(values, dict):"),
        ("if session and session not in desk.session_names:", "if False:"),
        ("if names and scope not in names:", "if False:"),
        ("if not back and not took_effect(action, note):", "if False:"),
        ("httponly=True,", "httponly=False,"),
        ('samesite="strict",', 'samesite="lax",'),
        (
            "token = self.seals.seal(ticket, _FORM, *_person(values))",
            "token = self.seals.seal(ticket, _FORM)",
        ),
    ),
    *_m(
        "panel/entrance",
        ("if self._used or not _same(token, self.token):", "if not _same(token, self.token):"),
        ("            self._used = True\n", ""),
        ('if site not in (None, "same-origin", "none"):', "if False:"),
        ('return site == "same-origin"', "return True"),
        ("match = _HOST.fullmatch(host)", "match = _HOST.match(host)"),
    ),
    *_m(
        "panel/shield",
        ("if len(hosts) != 1 or host_name(hosts[0]) not in self.hosts:", "if len(hosts) != 1:"),
        ("if not is_own_origin(", "if False and not is_own_origin("),
        ('if scope["method"] != "POST":', "if False:"),
        ("default-src 'none'; style-src 'self'", "default-src 'self'; style-src 'self'"),
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
