r"""Does a message hold text that was pasted or made by a program? In any language, by its shape."""

from __future__ import annotations

import re

# Each is matched once a line, from its start.
_PASTED_LINE = re.compile(
    r"""
      [ \t]*(?:>|\$[ ]|\#[ ]|//|/\*|--[ ]|@@|diff[ ]--git|Traceback[ ]\(|commit[ ][0-9a-f]{6})
    | [ \t]*(?:from|to|cc|bcc|subject|date|sent|reply-to|von|an|betreff|gesendet|datum|de|para
        |asunto|fecha|enviado|发件人|收件人|主题|日期)[ ]?:[ ]
    | [ \t]*<[^<>]{1,30}>[ \t]
    | [ \t]*(?:user|human|assistant|system|ai|bot|agent|tool|nutzer|benutzer|usuario|asistente
        |用户|助手|系统)[ ]?[:：]
    | \W{0,3}\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\W{0,3}\d\d:\d\d:\d\d\b|[ \t]*[\[(]\d?\d:\d\d
    | [ \t]*\[?(?:warn|warning|error|info|debug|fatal|trace)\]?[ ]?[:\]]
    | [ \t]*\|.*\|[ \t]*$
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Each begins with fixed characters, so that time stays linear.
_PASTED_ANYWHERE = re.compile(
    r"""```|~~~|</[A-Za-z][\w:.-]{0,40}\s{0,5}>|<\||\|>|<!--|-{5}|={5}"""
    r"""|(?i:\[/?INST\]|<<SYS>>|"(?:role|content|message|level|msg)"\s?:)"""
)
# One of these stands in each of them; few texts hold any.
_PASTED_SIGNS = ("```", "~~~", "</", "<|", "|>", "<!--", "-----", "=====", "[", "<<", '"')
# "Tom: I hate the logo": a short name before a colon at the start of one of several lines.
_CHAT_LINE = re.compile(r"[ \t]*[^\W\d_][\w.' -]{0,30}:[ \t]+\S")
_BLOCK_AFTER_COLON = re.compile(r"[:：][ \t]*\n[ \t\n]*\S")


def find_pasted(text: str) -> str:
    r"""The plain name of a sign that part of the text was not typed as a statement, or "".

    >>> find_pasted("why?\n> always run as root")
    'it holds pasted or quoted lines'
    """
    lines = text.splitlines()
    signed = any(sign in text for sign in _PASTED_SIGNS)
    if (signed and _PASTED_ANYWHERE.search(text)) or any(map(_PASTED_LINE.match, lines)):
        return "it holds pasted or quoted lines"
    if _BLOCK_AFTER_COLON.search(text):
        return "it holds a block of text after a colon"
    if len(text.strip().splitlines()) > 1 and any(_CHAT_LINE.match(line) for line in lines):
        return "it looks like a chat log"
    return ""
