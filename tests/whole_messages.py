"""An independent check that a note is a whole message of the person; knows nothing of the rule."""

import re

FRONT = re.compile(
    r"^(?:(?:hi|hello|hey|thanks|ok|okay|no|yes|so|well|actually)\s*[,:;.!-]"
    r"|(?:also|please|btw|from now on|remember that|note that|can you|could you)\b)[\s,:;.!-]*"
)
BACK = re.compile(r"[\s,:;.!?-]*\b(?:please|thanks|ok|from now on)$|\?$")
ADDED = re.compile(r"^the user said: |^in this (?:repo|project),? |,? in this (?:repo|project)$")
OPENED = {"n't": " not", "'m": " am", "'ve": " have", "'re": " are", "'ll": " will"}
TOLD = {"i": "the user", "me": "the user", "my": "the user's", "am": "is", "have": "has"}


def plain(text):
    text = text.lower().replace("\u2019", "'")
    for short, long in OPENED.items():
        text = text.replace(short, long)
    return " ".join(text.split()).rstrip(".!,;: ")


def cores(text, *ends):
    found = [plain(text)]
    for one in found:
        found += {end.sub("", one, count=1).rstrip(".!,;: ") for end in ends} - set(found)
    return found


def told(word):
    shifted = TOLD.get(word, word + "e" * word.endswith(("sh", "ch", "do")) + "s")
    return f"(?:{re.escape(word)}|{re.escape(shifted)}|{re.escape(shifted.removeprefix('the '))})"


def is_whole(note, messages):
    for core in (core for message in messages for core in cores(message, FRONT, BACK)):
        words = [told(word) for word in re.findall(r"[\w']+|[^\w']", core)]
        cuts = (0, 4 if core.startswith("i am ") else 2 * core.startswith(("i ", "my ")))
        if any(re.fullmatch("".join(words[i:]), n) for i in cuts for n in cores(note, ADDED)):
            return True
    return False
