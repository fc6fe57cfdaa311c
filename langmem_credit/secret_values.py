"""Whether a word that stands beside a cue such as "password is" looks like the secret itself.

Judged by form: digits among letters, signs, hyphen-joined words; never by how random it seems, so
that hashes and identifiers are left alone. The same form can be prose ("case-sensitive"), a
measure ("64-bit"), an algorithm ("SHA-256") or a reference (`config.token`, `vault/prod`,
`${TOKEN}`): those are named here and never taken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from langmem_credit.secret_texts import is_stand_in
from langmem_credit.secret_tokens import PREFIXES


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The words of all languages that tell prose from secrets; folded, in lower case.

    Attributes:
        prose: words that say something about a secret: "wrong", "stored", "in".
        endings: of such words: "ed", "mente".
        units: what may be counted behind a number: "characters", "days".
        cues: every cue word.
        algorithms: names with digits that are no secrets: "sha256".
        roots: where a reference in code begins: "env", "config".
        parts: words in the name of a variable that holds a secret.
    """

    prose: frozenset[str]
    endings: tuple[str, ...]
    units: frozenset[str]
    cues: frozenset[str]
    algorithms: frozenset[str]
    roots: frozenset[str]
    parts: frozenset[str]


_UNITS = "s|ms|sec|secs|min|mins|m|h|hr|hrs|d|w|mo|y|yr|k|kb|mb|gb|b|x|px|em|rem|th|st|nd|rd|c"
_FILE = re.compile(
    r"\.env(?:\.\w{1,20})?|[\w@.-]{1,100}\.(?:txt|md|json5?|ya?ml|toml|env|py|[jt]sx?|pem|key|crt|cer|"
    r"p12|pfx|cfg|ini|conf|html?|css|csv|sh|lock|log|xml|sql|db|sqlite|pdf|png|jpe?g|svg|docx?|xlsx?|"
    r"kdbx|gpg|asc|java|go|rs|rb|php|c|cpp|h|properties|plist|ipynb|vue|zip|gz|tar|example|sample)"
)
_PATH = re.compile(r"(?:~|\.{1,2})?/[\w./~-]*|[A-Za-z]:\\\S*|[a-z0-9_.-]+(?:/[a-z0-9_.{}-]+)+/?")
_ADDRESS = re.compile(
    r"(?:[\w.+-]{1,64}@)?[\w-]{1,63}(?:\.[\w-]{1,63}){0,6}"
    r"\.(?:com|org|net|io|dev|app|ai|co|example|test|local|internal|de|es|fr|uk|eu|cn|ru|jp)(?:[:/]\S*)?"
)
_NUMBERS = re.compile(
    r"[~<>=]{0,2}v?\d{1,6}(?:\.\d{1,6})+[\w.+-]{0,20}"  # version
    r"|\d{4}-\d\d(?:-\d\d)?(?:t\d\S*)?|\d{1,2}:\d\d(?::\d\d)?(?:am|pm)?"  # date, time
    r"|[~<>=]{0,2}\d{1,3}(?:\.\d+)?\+?(?:-\d{1,3})?%?"  # count, range
    rf"|[~<>=]{{0,2}}\d{{1,6}}-?(?:{_UNITS})"
)
_CODE = re.compile(
    r"[A-Za-z_$][\w$]*(?:\??\.[\w$]+)*[(\[{].*|@\w+|\w+::\w+.*|new$|await$|lambda$", re.DOTALL
)
# `type="x"`, `dual=True`: another setting stands here; "YWJj=" is base64.
_SETTING = re.compile(r"[A-Za-z_][\w-]{0,40}=[^=]")
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+")
_HUMPS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_MOST_DIGITS = 13  # of a Korean identity number
_SIGNS = frozenset("!@#$%^&*+=~§€£¥|^?")
# Folded, so that a Japanese sound mark stands alone.
_CODES = frozenset(
    ["cvv", "cvc", "cvv2", "securitycode", "보안코드"]
    + [f"セキュリティ{long}コート\u3099" for long in ("", "ー")]
)


def is_prose(word: str, vocabulary: Vocabulary) -> bool:
    """True for a word that speaks about a secret and is none."""
    low = word.lower().strip(".,;:!?'\"")
    return (
        low in vocabulary.prose
        or low in vocabulary.cues
        or (len(low) > 4 and low.endswith(vocabulary.endings))
    )


def is_reference(value: str, vocabulary: Vocabulary, *, quoted: bool) -> bool:
    """True for what names or measures something else: a path, a variable, an algorithm, 64-bit."""
    low = value.lower()
    head, _, rest = low.partition("-")
    if (
        is_stand_in(value)
        or "[secret removed" in low
        or "://" in low
        or low.startswith(("your", "insert", "placeholder", "example"))
        or low.replace("-", "") in vocabulary.algorithms
        or (head in vocabulary.algorithms and (not rest or rest.isalpha()))
        or _NUMBERS.fullmatch(low)
        or (
            head.isdigit()
            and rest.strip("s") in {unit.strip("s") for unit in vocabulary.units}
            and rest
        )
        or _FILE.fullmatch(low)
        or (_PATH.fullmatch(value) and len(value) < 200)
        or _ADDRESS.fullmatch(low)
    ):
        return True
    if quoted:
        return False
    if _CODE.match(value):
        return True
    if _DOTTED.fullmatch(value):
        parts = re.split(r"[.?]+", low)
        humps = {part.lower() for part in _HUMPS.findall(value)}
        return (
            parts[0] in vocabulary.roots
            or bool(humps & vocabulary.parts)
            or not any(char.isdigit() for char in low)
        )
    if re.fullmatch(r"[A-Za-z_]\w*", value):
        parts = [part.lower() for part in _HUMPS.findall(value)]
        named = [part for part in parts if part in vocabulary.parts]
        # `newPassword`, `user_token_2`; but "password123" and "Passw0rd" are passwords.
        return bool(named) and len([part for part in parts if not part.isdigit()]) > 1
    return False


def looks_secret(
    value: str,
    kind: str,
    tie: str,
    vocabulary: Vocabulary,
    *,
    cue: str = "",
    quoted: bool = False,
    alone: bool = False,
    assigned: bool = False,
) -> bool:
    """True when the value may be the secret that its cue announces.

    Args:
        value: without quotation marks and final punctuation, at most 256 characters.
        kind: of the cue: password, phrase, pin, key, token.
        tie: "sign" (: or =), "verb" (is), "near" (nothing between), "reverse" (stands before).
        cue: the cue as written in the word list, without separators.
        quoted: it stood in quotation marks.
        alone: nothing but the end of a short sentence or line follows.
        assigned: `NAME=value` in capitals, as in a file of settings.
    """
    digits = sum(char.isdigit() for char in value)
    letters = sum(char.isalpha() for char in value)
    if kind == "pin":
        return not is_stand_in(value) and _is_pin(value, tie, cue, digits, letters)
    if (
        is_reference(value, vocabulary, quoted=quoted)
        or value[0] in ")]}|>"
        or (not quoted and _is_setting(value, tie))
        or (len(value) < 4 and tie != "sign")
        or is_prose(value, vocabulary)
    ):
        return False
    if kind in ("key", "token"):
        return _is_key(value, tie, digits, letters) or (
            assigned and len(value) >= 6 and letters > 3 and not _has_prose(value, vocabulary)
        )
    if digits and not letters:
        least = 4 if tie in ("sign", "verb") or alone else 5
        return digits >= least and not {",", "."} & set(value)
    if not letters:
        return False
    # Signs at the edges are punctuation or markup: "the password policy**".
    edges = "!?*#" if tie in ("near", "reverse") else "!?*"
    if digits or _SIGNS & set(value.strip(edges)):
        # "2-step", "level-1", "v2": one digit at the edge of a hyphenated word is prose.
        return not re.fullmatch(r"\d-[a-z]+|[a-z]+-\d|v\d", value.lower())
    return _is_worded(value, tie, vocabulary, quoted=quoted, alone=alone)


def _is_worded(value: str, tie: str, vocabulary: Vocabulary, *, quoted: bool, alone: bool) -> bool:
    """True for a password of letters only: "purple-otter-dances", "CorrectHorse", "hunter"."""
    if tie in ("near", "reverse") or _has_prose(value, vocabulary):
        return False
    parts = [part for part in re.split(r"[-_.]", value) if part]
    if len(parts) > 1:
        if tie == "sign" and not quoted and "-" not in value:  # `password=new_value`, a name
            return False
        return len(parts) > 2 or quoted or (tie == "sign" and alone)
    if re.search(r"[a-z][A-Z]", value) and len(value) >= 6:
        # `password: SecretStr = …` is a type.
        return quoted or tie == "verb" or (value[0].isupper() and alone)
    # The last word of a short statement or of a line: "my wifi password is hunter".
    return (quoted or alone) and _is_word(value.rstrip("!?"))


def _is_setting(value: str, tie: str) -> bool:
    """True where another setting stands in the value's place: `dual=True`, `type="x"`."""
    setting = _SETTING.match(value)
    return setting is not None and (tie != "sign" or setting[0][-1] in "\"'")


def _is_word(value: str) -> bool:
    return value.isalpha() and 4 <= len(value) <= 32


def _has_prose(value: str, vocabulary: Vocabulary) -> bool:
    return any(is_prose(part, vocabulary) for part in re.split(r"[-_.]", value) if part)


def _is_pin(value: str, tie: str, cue: str, digits: int, letters: int) -> bool:
    if letters:
        return (
            digits >= 2 and len(value) >= 8 and value.replace("-", "").isalnum() and tie != "near"
        )
    value = value.strip("#*")
    least = 3 if cue in _CODES else 4
    if re.fullmatch(r"(?:19|20)\d\d-\d\d(?:-\d\d)?", value):  # a date
        return False
    return value.replace("-", "").isdigit() and least <= digits <= _MOST_DIGITS


def _is_key(value: str, tie: str, digits: int, letters: int) -> bool:
    if tie in ("near", "reverse"):
        return len(value) >= 16 and digits >= 2 and letters >= 2
    if digits and not letters:
        return digits >= 8 and value.isdigit()
    if value.startswith(PREFIXES):  # cut short, or made up
        return len(value) >= 8
    if not digits:
        # Signs amid letters: "s*cr*t-key!"; letters alone are names.
        return len(value) >= 8 and bool(_SIGNS - {"="} & set(value.strip("!?*@")))
    if re.search(r"[-_.:/]", value):
        return len(value) >= 8 and (digits >= 3 or len(value) >= 24)
    mixed = not (value.islower() or value.isupper())
    return len(value) >= (6 if tie == "sign" else 8) and (digits >= 2 or mixed or tie == "sign")
