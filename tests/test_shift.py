"""The same words, but for the closed list of edits; English."""

from __future__ import annotations

import pytest

from langmem_credit.contractions import open_contractions
from langmem_credit.languages import load
from langmem_credit.shift import same_words
from langmem_credit.words import tokenize

EN = load("en")

SAME = {
    "equal": ("I prefer tabs", "I prefer tabs"),
    "white space": ("I prefer  tabs", "I prefer tabs"),
    "first letter": ("use tabs", "Use tabs"),
    "contraction opened": ("don't use tabs", "do not use tabs"),
    "contraction closed": ("do not use tabs", "don't use tabs"),
    "contraction without mark": ("dont use tabs", "don't use tabs"),
    "capitals": ("NEVER use tabs", "Never use tabs"),
    "stressed word": ("do NOT use tabs", "do not use tabs"),
    "the user": ("I prefer tabs", "The user prefers tabs"),
    "user": ("I prefer tabs", "User prefers tabs"),
    "his": ("my name is Zoë", "The user's name is Zoë"),
    "him": ("call me Sam", "Call the user Sam"),
    "adverb between": ("I really never prefer tabs", "The user really never prefers tabs"),
    "am": ("I am vegan", "The user is vegan"),
    "have": ("I have cats", "The user has cats"),
    "do not": ("I don't eat meat", "The user doesn't eat meat"),
    "past": ("I moved to Rome", "The user moved to Rome"),
    "will": ("I will move to Rome", "The user will move to Rome"),
    "would rather": ("I'd rather use tabs", "The user would rather use tabs"),
    "sh": ("I push daily", "The user pushes daily"),
    "y": ("I carry keys", "The user carries keys"),
    "ay": ("I play chess", "The user plays chess"),
    "second verb": ("I live in Rome and need a car", "The user lives in Rome and needs a car"),
    "left out": ("I prefer tabs", "Prefers tabs"),
    "left out am": ("I am vegan", "Vegan"),
    "left out my": ("my name is Zoë", "Name is Zoë"),
    "left out then his": ("I love my dog", "Loves the user's dog"),
    "in quotes": ('I say "my way"', 'The user says "my way"'),
    "in a path": ("I use ~/my/bin", "The user uses ~/my/bin"),
}
OTHER = {
    "word dropped": ("I never prefer tabs", "I prefer tabs"),
    "word added": ("I prefer tabs", "I never prefer tabs"),
    "word added at the end": ("I prefer tabs", "I prefer tabs never"),
    "more of the first word's case": ("README is long", "readme is long"),
    "case of a word inside": ("do Never push", "do never push"),
    "stress inside quotes": ('write "NEVER" there', 'write "never" there'),
    "stress in a name": ("call NEVER_fail", "call never_fail"),
    "myself kept": ("I teach myself Go", "The user teaches myself Go"),
    "order": ("tabs over spaces", "spaces over tabs"),
    "case inside": ("use Foo", "use foo"),
    "capitals raised": ("never use tabs", "NEVER USE TABS"),
    "two capital words": ("USE GO", "use go"),
    "us": ("ALWAYS ASK US FIRST", "Always ask us first"),
    "name in capitals": ("ask IT first", "ask it first"),
    "mark dropped": ("tabs, spaces", "tabs spaces"),
    "space added": ("use ./tmp", "use . /tmp"),
    "line joined": ("use tabs\nnever spaces", "use tabs never spaces"),
    "no agreement": ("I prefer tabs", "The user prefer tabs"),
    "wrong tense": ("I moved to Rome", "The user moves to Rome"),
    "will dropped": ("I will move to Rome", "The user moves to Rome"),
    "half shifted": ("I love my dog", "The user loves my dog"),
    "he": ("I prefer tabs", "He prefers tabs"),
    "myself": ("I teach myself Go", "The user teaches the user Go"),
    "mine": ("the dog is mine", "the dog is the user's"),
    "two users": ("I told the user", "The user told the user"),
    "left out as an order": ("I delete branches", "Delete branches"),
    "left out past order": ("I set limits", "Set limits"),
    "left out may": ("I may push", "May push"),
    "left out we": ("we prefer tabs", "prefer tabs"),
    "left out am to": ("I am to approve it", "To approve it"),
    "left out am open": ("I am open to merges", "Open to merges"),
    "left out in the middle": ("usually I prefer tabs", "usually prefers tabs"),
    "left out my odd": ("my boss is Bob", "boss is Bob"),
    "left out my verb": ("my email drafts go to Bob", "email drafts go to Bob"),
    "quoted person": ('say "I win"', 'say "the user wins"'),
    "quotes dropped": ('call it "always"', "call it always"),
    "quoted contraction": ('say "don\'t"', 'say "do not"'),
    "person in a path": ("I use ~/my/bin", "The user uses ~/the user's/bin"),
    "person in a name": ("I use my_list", "The user uses the user's_list"),
    "person before a hyphen": ("I use my-api", "The user uses the user's-api"),
    "person in I/O": ("I/O is slow", "the user/O is slow"),
    "would": ("I'd pushed", "I would pushed"),
    "im": ("IM Bob daily", "I am Bob daily"),
    "need is no past": ("I need tabs", "Need tabs"),
    "feed is no past": ("I overfeed cats", "Overfeed cats"),
    "person inside a compound": ("I tell me-too stories", "The user tells the user-too stories"),
    "contraction spoken of": ("never use can't", "never use cannot"),
    "contraction spoken of behind I": ("reply with I don't know", "reply with I do not know"),
    "contraction beside its open form": (
        "we like don't over do not",
        "we like do not over do not",
    ),
    "code case": ("use FOO_BAR", "use foo_bar"),
    "empty note": ("I prefer tabs", ""),
}


@pytest.mark.parametrize(("said", "told"), SAME.values(), ids=SAME)
def test_an_edit_of_the_list_keeps_the_words(said, told):
    assert same_words(tokenize(said), tokenize(told), EN)


@pytest.mark.parametrize(("said", "told"), OTHER.values(), ids=OTHER)
def test_any_other_edit_changes_them(said, told):
    assert not same_words(tokenize(said), tokenize(told), EN)


@pytest.mark.parametrize(("said", "told"), [*SAME.values(), *OTHER.values()])
def test_without_a_language_only_equal_words_are_the_same(said, told):
    equal = [t.text.lower() for t in tokenize(said)] == [t.text.lower() for t in tokenize(told)]

    assert not same_words(tokenize(said), tokenize(told), None) or equal


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("don't", ["do", "not"]),
        ("DON'T", ["DO", "NOT"]),
        ("Can't", ["Cannot"]),
        ("I'd rather", ["I", "would", "rather"]),
        ("I'd gone", ["I'd", "gone"]),
        ("its it's fine", ["its", "it", "is", "fine"]),
        ("it's left", ["it's", "left"]),
        ('"don\'t"', ['"', "don't", '"']),
        ("IM Bob", ["IM", "Bob"]),
        ("im Bob", ["i", "am", "Bob"]),
        ("let's", ["let's"]),
        ("/can't", ["/", "can't"]),
    ],
)
def test_contractions_are_opened(text, opened):
    assert [word.text for word in open_contractions(tokenize(text), EN)] == opened
