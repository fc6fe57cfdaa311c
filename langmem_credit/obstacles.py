"""What keeps words from being credited in any wording: a voice, a question, a task, a neighbour."""

from __future__ import annotations

from .clauses import holds_errand
from .neighbours import find_touching
from .pasting import find_pasted
from .questions import asks_of_person
from .retractions import answers_about_text
from .sentences import Stretch
from .smalltalk import is_small_talk
from .standing import has_own_sign, lasts
from .voice import asks, find_foreign_voice
from .words import split_sentences, strip_final_stop


def find_obstacle(stretch: Stretch) -> tuple[str, str]:
    """(rule, detail) of what keeps it from being credited in any wording, or ("", "")."""
    utterance, unit, language = stretch.utterance, stretch.unit, stretch.language
    pasted = find_pasted(utterance.text)
    if pasted:
        return "own_voice", pasted
    sentences = split_sentences(unit.tokens, strict=False)
    rule, detail = find_foreign_voice(unit.tokens, sentences, language)
    if rule:
        return rule, detail
    # Thanks behind it hide a final "…, right".
    if language and asks(strip_final_stop(unit.shortest), language):
        return "question", "it is a question"
    if answers_about_text(utterance, unit.shortest):
        return "own_voice", "it answers a question about somebody else's words"
    if utterance.via == "answer" and utterance.asked:
        if not asks_of_person(utterance.asked, unit.tokens):
            return "own_voice", "it answers a question that does not plainly ask of the person"
    touched = find_touching(stretch.heard, stretch.index, unit.tokens)
    if touched:
        return touched
    if language is None:
        return "", ""
    if is_small_talk(unit.tokens, language):
        return "small_talk", ""
    if utterance.asked and not has_own_sign(unit.tokens, language):
        return "own_voice", "it answers the agent's question and does not speak of the person"
    if not stretch.lasting and not lasts(sentences, language):
        return "one_off", ""
    return _read_otherwise(stretch)


def _read_otherwise(stretch: Stretch) -> tuple[str, str]:
    """The obstacle in another language that the words may as well be of: "Usa essa foto"."""
    unit = stretch.unit
    for other in stretch.unit_languages[1:]:
        if holds_errand(unit.tokens, other):
            return "one_off", ""
        if asks(strip_final_stop(unit.shortest), other):
            return "question", "it is a question"
    return "", ""
