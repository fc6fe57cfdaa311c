"""Tokens and keys whose form their issuer has fixed: "ghp_…", "AKIA…", "eyJ….eyJ….…".

A pattern that repeats a class starts only where no character of that class stands before it, and
repeats possessively, so that no run is read twice and every search is linear.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from langmem_credit.secret_texts import Span

_log = logging.getLogger("langmem_credit")

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
    ("gitlab_token", "GitLabTokenDetector"): (
        "a GitLab token",
        (
            "glpat-",
            "gldt-",
            "glft-",
            "glsoat-",
            "glrt-",
            "glcbt-",
            "glimt-",
            "glptt-",
            "gloas-",
            "GR1348941",
        ),
    ),
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
    "a LangSmith key": "lsv2_pt_ lsv2_sk_",
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


# A digest in URL-safe base64 may begin with "r8_"; it goes on behind a hyphen or an underscore.
_PLAIN, _PLAIN_NAMES = _prefixed(_PLAIN_PREFIXES, "[A-Za-z0-9]{20,}+(?![_-][A-Za-z0-9])")
_DASHED, _DASHED_NAMES = _prefixed(_DASHED_PREFIXES, "[A-Za-z0-9_-]{16,}+")

# The same with one line end inside, as a terminal breaks it.
_ALL_NAMES = _PLAIN_NAMES | _DASHED_NAMES
_ANY_PREFIX = "|".join(re.escape(prefix) for prefix in sorted(_ALL_NAMES, key=len, reverse=True))
_BROKEN = re.compile(
    f"{_START}({_ANY_PREFIX})([A-Za-z0-9_-]{{0,60}}+)\\r?\\n([A-Za-z0-9_-]{{6,}}+)"
)

# How a token of a known form begins, for those that stand beside a cue and are cut short.
PREFIXES = tuple(
    prefix
    for prefix in (*_PLAIN_NAMES, *_DASHED_NAMES)
    if prefix not in ("key-", "secret_", "xai-")
)

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
    (
        "a Telegram token",
        ":",
        re.compile(r"(?<![\d:])(\d{8,10}:(?:[\w-]{35}|AA[\w-]{31,40}+))(?![\w-])", re.ASCII),
    ),
    (
        # A key file in base64; a certificate and a public key are none.
        "a private key",
        "LS0tLS1CRUdJTi",
        re.compile(r"(?<![A-Za-z0-9+/])(LS0tLS1CRUdJTi(?!BDRVJ|BQVUJM)[A-Za-z0-9+/]{20,}+={0,2})"),
    ),
    (
        "an AWS key",
        "ecret",
        re.compile(
            r"(?i:\baws[ _-]secret)(?i:(?:[ _-](?:access|key|is)){0,3})[ :=]{1,3}"
            r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
        ),
    ),
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

_AWS_PAIR = re.compile(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")


def find_tokens(text: str) -> Iterator[Span]:
    """Every token or key of a known form, in no order; spans may overlap."""
    yield from _prefixes(text)
    if "\n" in text:
        yield from _broken(text)
    for name, needle, pattern in _OWN:
        if needle in text:
            for match in pattern.finditer(text):
                yield Span(*match.span(1), name)
    yield from _library(text)


def _prefixes(text: str) -> Iterator[Span]:
    for match in _PLAIN.finditer(text):
        if match[1] not in ("sk-", "key-", "secret_", "dapi") or _has_digit(match[2]):
            yield Span(*match.span(), _PLAIN_NAMES[match[1]])
    for match in _DASHED.finditer(text):
        # "xai-based-evaluation-of-models" is a name.
        if match[1] not in ("xai-", "pul-", "pplx-") or _has_digit(match[2]):
            yield Span(*match.span(), _DASHED_NAMES[match[1]])


def _broken(text: str) -> Iterator[Span]:
    for match in _BROKEN.finditer(text):
        first, second = match[2], match[3]
        # "The prefix is sk-", or a whole token, and in the next line a word such as "release-2".
        worded = second.islower() and not 4 <= len(first) < 16
        if len(first) + len(second) >= 20 and _has_digit(second) and not worded:
            if any(char.isalpha() for char in second):
                yield Span(*match.span(), _ALL_NAMES[match[1]])


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


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
                pattern
                for pattern in denylist
                if not any(slow in pattern.pattern for slow in _SLOW)
            )
        except (ImportError, AttributeError) as error:
            _log.warning("secret detector %s is not available: %s", detector, error)
            continue
        found.append((name, needles, patterns))
    return tuple(found)
