"""An independent check that a note is a whole message of the person; knows nothing of the rule."""

import re
import unicodedata

FRONT = re.compile(
    r"^(?:(?:hi|hello|hey|thanks|ok|okay|no|yes|so|well|actually)\s*[,:;.!-]"
    r"|(?:also|please|btw|from now on|remember that|note that|can you|could you)\b)[\s,:;.!-]*"
)
BACK = re.compile(r"[\s,:;.!?-]*\b(?:please|thanks|ok|from now on)$|\?$")
ADDED = re.compile(r"^the user said: |^in this (?:repo|project),? |,? in this (?:repo|project)$")
OPENED = {"n't": " not", "'m": " am", "'ve": " have", "'re": " are", "'ll": " will"}
PERSON = {"i": "the user", "me": "the user", "my": "the user's"}
IRREGULAR = {"am": "is", "have": "has", "do": "does"}


def plain(text):
    text = unicodedata.normalize("NFC", text).lower()
    text = text.translate({0x2019: "'", 0x2014: "-", 0x201C: '"', 0x201D: '"'})
    for short, long in OPENED.items():
        text = text.replace(short, long)
    return " ".join(text.split()).rstrip(".!,;: ")


def cores(text, *ends):
    found = [plain(text)]
    for one in found:
        found += {end.sub("", one, count=1).rstrip(".!,;: ") for end in ends} - set(found)
    return found


def told(word):
    """Ways to say the word of somebody else."""
    shifted = PERSON.get(word, IRREGULAR.get(word, word + "e" * word.endswith(("sh", "ch")) + "s"))
    return f"(?:{re.escape(word)}|{re.escape(shifted)}|{re.escape(shifted.removeprefix('the '))})"


def is_whole(note, messages):
    for core in (core for message in messages for core in cores(message, FRONT, BACK)):
        words = [told(word) for word in re.findall(r"[\w']+|[^\w']", core)]
        left_out = 4 if core.startswith("i am ") else 2 * core.startswith(("i ", "my "))
        ways = {"".join(words), "".join(words[left_out:])}
        if any(re.fullmatch(way, one) for way in ways for one in cores(note, ADDED)):
            return True
    return False
