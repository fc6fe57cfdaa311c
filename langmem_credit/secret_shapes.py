"""Secrets that their shape alone gives away: provider tokens, key blocks, cards, passwords in URLs.

Every search is linear in the length of the text. A pattern that repeats a class starts only where
no character of that class stands before it, and repeats possessively, so no run is read twice.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

_log = logging.getLogger("langmem_credit")


class Span(NamedTuple):
    """Characters [start, end) of a text and what stands there, in plain words."""

    start: int
    end: int
    name: str


# Detector of detect-secrets → what to call its finds, text without which none can stand there.
# Left out: entropy and keyword detectors (they take hashes and prose), public addresses (no
# secret), and those whose patterns read a run again from each of its characters: JWT, npm, OpenAI,
# Mailchimp, Discord, Telegram, Basic auth, IBM, Cloudant. `_OWN`, `_urls` and the cue words stand
# in for them, and `_OWN` finds whole what PrivateKeyDetector finds the header of.
_LIBRARY: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {
    ("artifactory", "ArtifactoryDetector"): ("an Artifactory token", ("AKC",)),
    ("aws", "AWSKeyDetector"): ("an AWS key", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T")),
    ("azure_storage_key", "AzureStorageKeyDetector"): ("an Azure key", ("AccountKey=",)),
    ("github_token", "GitHubTokenDetector"): (
        "a GitHub token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    ),
    ("gitlab_token", "GitLabTokenDetector"): ("a GitLab token", ("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glcbt-", "glimt-", "glptt-", "gloas-", "GR1348941")),
    ("pypi_token", "PypiTokenDetector"): ("a PyPI token", ("pypi-",)),
    ("sendgrid", "SendGridDetector"): ("a SendGrid key", ("SG.",)),
    ("slack", "SlackDetector"): ("a Slack token", ("xox", "XOX", "slack.com")),
    ("square_oauth", "SquareOAuthDetector"): ("a Square secret", ("sq0csp-",)),
    ("stripe", "StripeDetector"): ("a Stripe key", ("k_live_",)),
    ("twilio", "TwilioKeyDetector"): ("a Twilio key", ("AC", "SK")),
}
# Patterns that need a quote, a keyword or up to 1,024 characters from each start: slow on hostile
# text; the cue words and `_OWN` cover them. Artifactory's second takes words such as APERTURESIZE.
_SLOW = ("glagent-", "aws.{0,20}", "AP[\\d")

_START = r"(?<![A-Za-z0-9])"
# Prefix, then letters and digits only: an underscore would take snake_case names along.
_PLAIN_PREFIXES = {
    "a GitHub token": "ghp_ gho_ ghu_ ghs_ ghr_",
    "a Stripe key": "sk_live_ sk_test_ rk_live_ rk_test_ whsec_",
    "an npm token": "npm_",
    "a Hugging Face token": "hf_ api_org_",
    "a DigitalOcean token": "dop_v1_ doo_v1_ dor_v1_",
    "a Groq key": "gsk_",
    "a Replicate token": "r8_",
    "a Linear key": "lin_api_ lin_oauth_",
    "a Notion token": "ntn_ secret_",
    "a Shopify token": "shpat_ shpca_ shppa_ shpss_",
    "a LangSmith key": "lsv2_pt_ lsv2_sk_ ls__",
    "a Supabase key": "sbp_ sb_secret_",
    "a Databricks token": "dapi",
    "a RubyGems key": "rubygems_",
    "a Docker token": "dckr_pat_",
    "a Grafana token": "glsa_ glc_",
    "a Netlify token": "nfp_",
    "a PlanetScale token": "pscale_tkn_ pscale_pw_",
    "a Buildkite token": "bkua_",
    "a Postman key": "PMAK-",
    "a New Relic key": "NRAK-",
    "a Mailgun key": "key-",
    "an age key": "AGE-SECRET-KEY-1",
    "an OpenAI key": "sk-",
    "a Sentry token": "sntrys_ sntryu_",
}
# Prefix, then letters, digits, hyphens and underscores.
_DASHED_PREFIXES = {
    "an Anthropic key": "sk-ant-",
    "an OpenAI key": "sk-proj- sk-svcacct- sk-admin- sk-None-",
    "an OpenRouter key": "sk-or-v1-",
    "a GitHub token": "github_pat_",
    "a GitLab token": "glpat- gldt- glft- glsoat- glrt- glcbt- glptt- glimt- gloas- glagent-",
    "a Google key": "AIza ya29. GOCSPX-",
    "a Slack token": "xoxb- xoxa- xoxp- xoxo- xoxs- xoxr- xoxe- xoxc- xoxd- xapp-",
    "a PyPI token": "pypi-AgE",
    "a Tavily key": "tvly-",
    "a Perplexity key": "pplx-",
    "an xAI key": "xai-",
    "a Figma token": "figd_",
    "a Vault token": "hvs. hvb.",
    "a Doppler token": "dp.pt. dp.st.",
    "a Pulumi token": "pul-",
    "a Tailscale key": "tskey-",
    "an Atlassian token": "ATATT3",
    "a Square secret": "sq0atp- sq0csp-",
    "a Contentful token": "CFPAT-",
    "a Mapbox token": "sk.eyJ",
    "a 1Password token": "ops_eyJ",
    "a Facebook token": "EAAC EAAB",
}


def _prefixed(prefixes: dict[str, str], body: str) -> tuple[re.Pattern[str], dict[str, str]]:
    names = {prefix: name for name, group in prefixes.items() for prefix in group.split()}
    # Longest first: "sk-ant-" before "sk-".
    either = "|".join(re.escape(prefix) for prefix in sorted(names, key=len, reverse=True))
    return re.compile(f"{_START}({either})({body})"), names


_PLAIN, _PLAIN_NAMES = _prefixed(_PLAIN_PREFIXES, "[A-Za-z0-9]{20,}+")
_DASHED, _DASHED_NAMES = _prefixed(_DASHED_PREFIXES, "[A-Za-z0-9_-]{16,}+")

_OWN: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    # (name, text without which it cannot stand there, pattern whose group 1 is the secret)
    (
        "a token",
        "eyJ",
        re.compile(
            r"(?<![A-Za-z0-9_-])(eyJ[A-Za-z0-9_=-]{5,}+\.[A-Za-z0-9_=-]{5,}+"
            r"(?:\.[A-Za-z0-9_+/=-]*+){0,3})"
        ),
    ),
    (
        "a Discord token",
        ".",
        re.compile(r"(?<![\w-])([MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38})(?![\w-])", re.ASCII),
    ),
    ("a Telegram token", ":", re.compile(r"(?<![\d:])(\d{8,10}:[\w-]{35})(?![\w-])", re.ASCII)),
    ("a Mailchimp key", "-us", re.compile(r"(?<![0-9a-z])([0-9a-f]{32}-us\d{1,2})(?![0-9a-z])")),
    ("an Airtable token", "pat", re.compile(r"(?<!\w)(pat[A-Za-z0-9]{14}\.[a-f0-9]{40,64})")),
    ("a Square secret", "EAAA", re.compile(r"(?<![\w-])(EAAA[\w-]{60}+)(?![\w-])", re.ASCII)),
    (
        "a webhook address",
        "/api/webhooks/",
        re.compile(r"/api/webhooks/(\d{15,20}/[A-Za-z0-9_-]{30,}+)"),
    ),
    (
        "a webhook address",
        "hooks.slack.com",
        re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/]{20,}+)"),
    ),
    (
        "an Azure key",
        "Key=",
        re.compile(r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{20,}+={0,2})"),
    ),
    ("a signed address", "sig=", re.compile(r"[?&;]sig=([A-Za-z0-9%+/=_-]{20,}+)")),
    (
        "a signed address",
        "X-Amz-",
        re.compile(r"X-Amz-(?:Signature|Security-Token)=([A-Za-z0-9%+/=_-]{20,}+)"),
    ),
)

_HEADERS = re.compile(
    r"(?:authorization|x-auth)[\"'\\]{0,3}\s{0,3}[:=]\s{0,3}[\"'\\]{0,3}"
    r"(?:bearer|basic|token|digest|apikey|negotiate|bot)\s{1,3}([^\s\"'\\,;]{4,}+)"
    r"|\bbearer\s{1,3}([a-z0-9._~+/=-]{16,}+)"
    r"|(?<![\w-])(?:set-)?cookie\s?:\s?([^\s=;]{1,60}=[^\n\"']{6,}+)"
    r"|(?<![\w-])(?:-u|--user)[ =]?[\"']?[^\s:\"'/]{1,60}:([^\s\"']{3,}+)"
    r"|(?<![\w-])(?:basic)\s{1,3}([a-z0-9+/]{16,}+={1,2})"
    r"|(?<![\w-])(?:mysql\w{0,8}|mariadb|sshpass|docker login)[ ][^\n]{0,80}?-p[ ]?[\"']?([^\s\"']{4,}+)",
    re.IGNORECASE,
)
_HEADER_HINTS = ("authorization", "x-auth", "bearer", "cookie", "-u", "--user", "basic", "mysql", "mariadb", "sshpass", "docker login")

_AWS_PAIR = re.compile(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")

_BLOCK = re.compile(r"-{4,5} ?BEGIN ([A-Z0-9 ]{0,40}?)PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_BLOCK_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_PUTTY = re.compile(r"Private-Lines:[^\n]{0,10}\n")
# A piece of a key block without its end: quoting, escapes, header fields, base64.
_BLOCK_PIECE = re.compile(
    r"(?:[\s>\"',]|\\[nr])*+"
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Private-MAC):[^\n\\]{0,100}"
    r"|(?=[A-Za-z+]{0,200}[0-9/+=])[A-Za-z0-9+/=]++|[A-Za-z0-9+/=]{16,}+)"
)
# What may stand between the two marks of a block that is only talked about.
_PROSE = re.compile(r"(?:[\s.,…'\"`]|[a-z]+(?![A-Za-z0-9+/=]))*+")
_WORDS = re.compile(r"[^\s\\]+")
_KEY_WORD = re.compile(r"[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]*[0-9+/=]+|n[A-Za-z0-9+/=]+")
_BLOCK_MOST = 20_000  # characters; an RSA key of 16,384 bits has 12,700

_CARD = re.compile(
    r"(?<![\w.])(?<!\d[ ./-])(?:"
    r"\d{4}([ -])\d{4}\1\d{4}\1\d{1,4}(?:\1\d{3})?|3\d{3}([ -])\d{6}\2\d{4,5}|\d{13,19}"
    r")(?![\w]|[./-]\d| \d{4}\b)"
)
_CARD_CUE = re.compile(r"card|visa|karte|tarjeta|carte|cart[aã]o|карт|卡|カード|카드", re.IGNORECASE)

_URL_USER = re.compile(r"[^\s:/@?#\"'<>]{0,128}:")
_URL_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,200}(?=@)")
# What is written where a password will stand later.
_STAND_IN = re.compile(
    r"(?:\$|%[sdv(]|%\w{1,60}%|<|\{|\[|\*+$|x{3,}$|\.{3}|…)|[^\w]*$", re.IGNORECASE
)


def find_shapes(text: str) -> Iterator[Span]:
    """Every secret that its shape gives away, in no order; spans may overlap."""
    yield from _blocks(text)
    yield from _prefixes(text)
    for name, needle, pattern in _OWN:
        if needle in text:
            for match in pattern.finditer(text):
                yield Span(*match.span(1), name)
    lowered = text.lower()
    if any(hint in lowered for hint in _HEADER_HINTS):
        yield from _headers(text)
    if "://" in text:
        yield from _urls(text)
    yield from _cards(text)
    yield from _library(text)


def is_stand_in(value: str) -> bool:
    """True for what only marks the place of a secret: `$TOKEN`, `<password>`, `****`.

    >>> is_stand_in("${DB_PASSWORD}"), is_stand_in("hunter2")
    (True, False)
    """
    return _STAND_IN.match(value) is not None


def _prefixes(text: str) -> Iterator[Span]:
    for match in _PLAIN.finditer(text):
        if match[1] not in ("sk-", "key-", "secret_", "dapi") or _has_digit(match[2]):
            yield Span(*match.span(), _PLAIN_NAMES[match[1]])
    for match in _DASHED.finditer(text):
        # "xai-based-evaluation-of-models" is a name.
        if match[1] not in ("xai-", "pul-", "pplx-") or _has_digit(match[2]):
            yield Span(*match.span(), _DASHED_NAMES[match[1]])


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _headers(text: str) -> Iterator[Span]:
    for match in _HEADERS.finditer(text):
        group = match.lastindex or 0
        value = match[group]
        # "Authorization: Bearer authentication" and "bearer-token-based" are prose.
        if is_stand_in(value) or (group == 2 and not _has_digit(value)):
            continue
        if group == 1 and value.isalpha() and value.islower() and len(value) < 20:
            continue
        yield Span(*match.span(group), "a password" if group in (4, 5, 6) else "a token")


def _blocks(text: str) -> Iterator[Span]:
    """Private key blocks whole; without an end line, as far as the lines look like a key."""
    if "PRIVATE KEY" in text:
        # Marks in order; a start takes the end right after it, what is left over stands alone.
        marks = [(match.start(), match.end(), True) for match in _BLOCK.finditer(text)]
        marks += [(match.start(), match.end(), False) for match in _BLOCK_END.finditer(text)]
        marks.sort()
        open_mark: tuple[int, int] | None = None
        before = 0
        for start, end, begins in [*marks, (len(text), len(text), True)]:
            if open_mark and (begins or start - open_mark[1] > _BLOCK_MOST):
                stop = _key_lines(text, open_mark[1])
                if stop > open_mark[1]:
                    yield Span(open_mark[0], stop, "a private key")
                open_mark = None
            elif open_mark:
                if not _PROSE.fullmatch(text, open_mark[1], start):
                    yield Span(open_mark[0], end, "a private key")
                open_mark = None
                before = end
                continue
            if begins:
                open_mark = (start, end)
            else:
                first = _first_line(text, max(before, start - _BLOCK_MOST), start)
                if first < start:
                    yield Span(first, end, "a private key")
            before = end
    for match in _PUTTY.finditer(text):
        stop = _key_lines(text, match.end())
        if stop > match.end():
            yield Span(match.start(), stop, "a private key")


def _key_lines(text: str, position: int) -> int:
    while piece := _BLOCK_PIECE.match(text, position):
        position = piece.end()
    return position


def _first_line(text: str, lowest: int, end: int) -> int:
    """Where the key begins that ends here and whose first line was cut off."""
    first = end
    for piece in reversed(list(_WORDS.finditer(text, lowest, end))):
        if not _KEY_WORD.fullmatch(piece[0]):
            break
        first = piece.start()
    return first


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
            if password and not re.match(r"\d{1,5}[/?#]", password) and not is_stand_in(password):
                yield Span(user.end(), user.end() + at, "a password")
        else:
            token = _URL_TOKEN.match(text, start)
            if token and _has_digit(token[0]):
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


def _cards(text: str) -> Iterator[Span]:
    for match in _CARD.finditer(text):
        digits = re.sub("[ -]", "", match[0])
        if not _is_card(digits):
            continue
        # Article numbers (EAN) have 13 digits too, and many begin with 4.
        if len(digits) == 13 and not _CARD_CUE.search(text, max(0, match.start() - 40), match.start()):
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


def _library(text: str) -> Iterator[Span]:
    for name, needles, patterns in _detectors():
        if not any(needle in text for needle in needles):
            continue
        for pattern in patterns:
            for match in pattern.finditer(text):
                start, end = _trimmed(text, *match.span())
                yield Span(start, end, name)
                if name == "an AWS key":
                    yield from _aws_partner(text, end)


def _aws_partner(text: str, end: int) -> Iterator[Span]:
    """The secret half that stands within a line's reach of an AWS key id."""
    for match in _AWS_PAIR.finditer(text, end, end + 120):
        value = match[0]
        if _has_digit(value) and not (value.islower() or value.isupper()):
            yield Span(*match.span(), "an AWS key")


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space and signs that a pattern took along on either side."""
    while start < end and (text[start].isspace() or text[start] in "=:\"'"):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in "\"'"):
        end -= 1
    return start, end


@lru_cache(maxsize=1)
def _detectors() -> tuple[tuple[str, tuple[str, ...], tuple[re.Pattern[str], ...]], ...]:
    """The library's patterns, loaded at the first use: it brings an HTTP client along."""
    from importlib import import_module

    found = []
    for (module, detector), (name, needles) in _LIBRARY.items():
        try:
            denylist: Iterable[re.Pattern[str]] = getattr(
                import_module(f"detect_secrets.plugins.{module}"), detector
            ).denylist
            patterns = tuple(
                pattern for pattern in denylist if not any(slow in pattern.pattern for slow in _SLOW)
            )
        except (ImportError, AttributeError) as error:
            _log.warning("secret detector %s is not available: %s", detector, error)
            continue
        found.append((name, needles, patterns))
    return tuple(found)
