"""What browsers send, taken in small and plain, or refused."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

_MOST_BYTES = 64 * 1024
_MOST_FIELDS = 20
_KIND = "application/x-www-form-urlencoded"


async def fields_of(request: Request) -> dict[str, str]:
    """The fields of a form, the last of each name; line ends are plain ones.

    Raises:
        HTTPException: it is too large, or no form as browsers send them.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _KIND:
        raise HTTPException(415)
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > _MOST_BYTES:
                raise HTTPException(413)
    except ClientDisconnect as error:
        raise HTTPException(400) from error
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise HTTPException(400) from error
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


def number_of(text: str) -> int:
    """A page's number; 1 for what is none.

    >>> number_of("12"), number_of("-1"), number_of("9" * 99)
    (12, 1, 1)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 6 else 1
