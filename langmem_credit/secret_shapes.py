"""Secrets that their form or place alone gives away, in any language.

Tokens, key blocks, authorization headers, passwords in addresses, payment cards. Every search is
linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from langmem_credit.secret_blocks import find_blocks
from langmem_credit.secret_texts import Span, is_stand_in
from langmem_credit.secret_tokens import find_tokens

# (name, text without which it cannot stand there, pattern whose group 1 is the secret), all in
# lower case.
_HEADERS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    (
        "a token",
        "auth",
        re.compile(
            r"(?:authorization|x-auth)[\"'\\]{0,3}\s{0,3}[:=]\s{0,3}[\"'\\]{0,3}"
            r"(?:bearer|basic|token|digest|apikey|negotiate|bot)\s{1,3}([^\s\"'\\,;]{4,}+)"
        ),
    ),
    ("a token", "bearer", re.compile(r"bearer\s{1,3}([a-z0-9._~+/=-]{16,}+)")),
    ("a password", "basic", re.compile(r"basic\s{1,3}([a-z0-9+/]{16,}+={1,2})")),
    ("a token", "cookie", re.compile(r"cookie\s?:\s?([^\s=;]{1,60}=[^\n\"']{6,}+)")),
    ("a password", "-u", re.compile(r"(?<![\w-])-u[ =][\"']?[^\s:\"'/]{1,60}:([^\s\"']{3,}+)")),
    ("a password", "--user", re.compile(r"--user[ =][\"']?[^\s:\"'/]{1,60}:([^\s\"']{3,}+)")),
    *(
        (
            "a password",
            command,
            re.compile(command + r"\w{0,8} [^\n]{0,80}?-p ?[\"']?([^\s\"']{4,}+)"),
        )
        for command in ("mysql", "mariadb", "sshpass", "docker login")
    ),
)

# A word of a script without spaces, or a Korean particle, may stand right beside a number.
_LETTER = r"[^\W\u2e80-\U0003ffff]"
_CARD = re.compile(
    rf"(?<!{_LETTER})(?<!\.)(?<!\d[ ./-])(?:"
    r"\d{4}([ .-])\d{4}\1\d{4}\1\d{1,4}(?:\1\d{3})?|3\d{3}([ -])\d{6}\2\d{4,5}|\d{13,19}"
    rf")(?!{_LETTER}|[./-]\d| \d{{4}}\b)"
)
# Numbers one behind the other, in fours: the separators do not tell where one ends.
_CARDS = re.compile(
    rf"(?<!{_LETTER})(?<!\.)(?<!\d[ .-])\d{{4}}(?:[ .-]?\d{{4}}){{7,}}+(?!{_LETTER})"
)
_CARD_CUE = re.compile(
    r"card|visa|karte|tarjeta|carte|cart[aã]o|карт|卡|カード|카드", re.IGNORECASE
)

# Country, how long its account numbers are; those that people of these languages have.
_IBAN_LENGTHS = dict(
    re.findall(
        r"(\w\w)(\d\d)",
        "AT20 BE16 BG22 CH21 CY28 CZ24 DE22 DK18 EE20 ES24 FI18 FR27 GB22 GR27 HR21 HU28 IE22 IT27 "
        "LI21 LT20 LU20 LV21 MC27 MT31 NL18 NO15 PL28 PT25 RO24 SE24 SI19 SK24 TR26 UA29",
    )
)
_IBAN = re.compile(r"(?<!\w)([A-Z]{2})\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")

# "bob:secret!1@host.com": letters, a figure and a sign, since "mailto:bob2@host.com" is an address.
_USER_AT = re.compile(
    r"(?<![\w.:/@+-])[A-Za-z][\w.-]{0,64}:"
    r"(?=[^\s@]{0,128}\d)(?=[^\s@]{0,128}[!#$%^&*~])([^\s:/@\"'<>]{6,128})@"
    r"[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,6}\.[A-Za-z]{2,24}(?!\w)"
)
# Commit hashes, digests and transaction ids have the same form: only words beside it tell a key.
_HEX_KEY = re.compile(r"(?<!\w)0x[0-9a-f]{64}(?!\w)")
_KEY_WORDS = re.compile(
    r"key|priv|wallet|seed|signer|secret|schl(?:\u00fc|u)ssel|clave|cl[e\u00e9](?!\w)|chiave|chave"
    r"|\u94a5|\u9470|\u79d8\u5bc6|\u94b1\u5305|\u9322\u5305"
)
_HASH_WORDS = re.compile(
    r"hash|tx|transac|transak|digest|block|commit|public|sha|keccak|merkle|root|checksum|topic|slot"
    r"|\u54c8\u5e0c|\u4ea4\u6613|\u516c\u94a5"
)
_KEY_BEHIND = re.compile(
    r"[\"'`]? (?:is|as|es|ist|est) (?:[^\W\d]+ ){1,2}(?:key|wallet|seed)(?!\w)"
)
_NEAR = 60  # characters before the number

_URL_USER = re.compile(r"[^\s:/@?#\"'<>]{0,128}:")
_URL_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,200}(?=@)")


def find_shapes(text: str, low: str) -> Iterator[Span]:
    """Every secret that its form gives away, in no order; spans may overlap.

    Args:
        text: folded by `secret_texts.fold`.
        low: the same in lower case, of the same length.
    """
    yield from find_blocks(text)
    yield from find_tokens(text)
    yield from _headers(text, low)
    if "://" in text:
        yield from _urls(text)
    if "@" in text:
        for match in _USER_AT.finditer(text):
            if not is_stand_in(match[1]):
                yield Span(*match.span(1), "a password")
    if "0x" in low:
        yield from _hex_keys(low)
    yield from _cards(text)
    yield from _accounts(text)


def _headers(text: str, low: str) -> Iterator[Span]:
    for name, needle, pattern in _HEADERS:
        if needle not in low:
            continue
        for match in pattern.finditer(low):
            value = text[slice(*match.span(1))]
            # "Bearer authentication", "basic functionality": a word is no token.
            if not is_stand_in(value) and not (value.isalpha() and len(value) < 24):
                yield Span(*match.span(1), name)


def _urls(text: str) -> Iterator[Span]:
    """Passwords between the user and the host of an address; the host stays."""
    position = text.find("://")
    while position >= 0:
        start = position + 3
        user = _URL_USER.match(text, start)
        following = text.find("://", start)
        if user:
            stop = min(start + 400, len(text) if following < 0 else following)
            part = _until_space(text, user.end(), stop)
            at = part.rfind("@", 0, _authority(part))
            password = part[:at] if at > 0 else ""
            # A number up to the slash is a port: "https://host.example:8080/@scope/name".
            if (
                password
                and not re.match(r"\d{1,5}[/?#]", password)
                and not is_stand_in(password)
                and "[^" not in password
            ):
                yield Span(user.end(), user.end() + at, "a password")
        else:
            token = _URL_TOKEN.match(text, start)
            if token and any(char.isdigit() for char in token[0]):
                yield Span(*token.span(), "a token")
        position = following


def _authority(part: str) -> int:
    """Where to stop looking for the "@": at the slash behind a host, else at the end.

    A host has a dot or a port, or no "@" comes later: a password may hold both signs unescaped.
    """
    at = part.find("@")
    slash = part.find("/", at) if at >= 0 else -1
    if slash < 0:
        return len(part)
    host = part[part.rfind("@", 0, slash) + 1 : slash]
    return slash if "." in host or ":" in host or "@" not in part[slash:] else len(part)


def _until_space(text: str, start: int, stop: int) -> str:
    part = text[start:stop].split(None, 1)
    if not part or text[start].isspace():
        return ""
    return re.split("[\"'<>`]", part[0], maxsplit=1)[0]


def _hex_keys(low: str) -> Iterator[Span]:
    """Numbers of 64 hexadecimal figures that words beside them call a key."""
    for match in _HEX_KEY.finditer(low):
        before = re.split(r"[.\n;!?]", low[max(0, match.start() - _NEAR) : match.start()])[-1]
        named = _KEY_WORDS.search(before) or _KEY_BEHIND.match(low, match.end())
        if named and not _HASH_WORDS.search(before):
            yield Span(*match.span(), "a private key")


def _accounts(text: str) -> Iterator[Span]:
    """International bank account numbers, by their length and check digits."""
    for match in _IBAN.finditer(text):
        number = match[0].replace(" ", "")
        if _IBAN_LENGTHS.get(match[1]) == str(len(number)):
            if int("".join(str(int(char, 36)) for char in number[4:] + number[:4])) % 97 == 1:
                yield Span(*match.span(), "a bank account number")


def _cards(text: str) -> Iterator[Span]:
    for match in _CARDS.finditer(text):
        digits = re.sub("[ .-]", "", match[0])
        parts = [digits[index : index + 16] for index in range(0, len(digits), 16)]
        if all(len(part) == 16 and _is_card(part) for part in parts):
            yield Span(*match.span(), "a card number")
    for match in _CARD.finditer(text):
        digits = re.sub("[ .-]", "", match[0])
        if not _is_card(digits):
            continue
        # Article numbers (EAN) have 13 digits too, and many begin with 4.
        if len(digits) == 13 and not _CARD_CUE.search(
            text, max(0, match.start() - 40), match.start()
        ):
            continue
        yield Span(*match.span(), "a card number")


def _is_card(digits: str) -> bool:
    """True for a length and prefix that an issuer uses and a right check digit (Luhn)."""
    size, four, two = len(digits), int(digits[:4]), int(digits[:2])
    issued = (
        (digits[0] == "4" and size in (13, 16, 19))
        or ((51 <= two <= 55 or 2221 <= four <= 2720) and size == 16)
        or (two in (34, 37) and size == 15)
        or ((four == 6011 or two == 65 or 644 <= four // 10 <= 649) and size in (16, 19))
        or (3528 <= four <= 3589 and 16 <= size <= 19)
        or ((two in (36, 38, 39) or 300 <= four // 10 <= 305) and size in (14, 16))
        or (two == 62 and 16 <= size <= 19)
        or (two in (50, 56, 57, 58, 63, 67) and size in (16, 18, 19))
    )
    if not issued or len(set(digits)) == 1:
        return False
    doubled = [int(digit) * 2 for digit in digits[-2::-2]]
    rest = sum(int(digit) for digit in digits[-1::-2])
    return (rest + sum(number - 9 if number > 9 else number for number in doubled)) % 10 == 0
