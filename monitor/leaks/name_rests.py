"""The rest of a name beside its mask: the other name, what a hyphen joins, what a particle leads to.

A capital tells a name from a word in the middle of a sentence, in every language but German.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from monitor.leaks.mentions import Searched
from monitor.leaks.ordinary_words import ORDINARY
from monitor.leaks.squeezed import squeeze
from monitor.leaks.words import (
    DETERMINERS,
    INTERJECTIONS,
    LITTLE_WORDS,
    MONTHS_AND_DAYS,
    PARTICLES,
    PREPOSITIONS_OF_TIME,
    PUBLIC_NEIGHBOURS,
    ROLES,
    TITLES,
    Language,
)

_AROUND = 48
_REACH = 160
_WORD = re.compile(r"[^\W_]+")
_NEXT_NAME = re.compile(r"((?:[ \u00a0](?:[a-z]{1,4}|'[a-z]) ?){0,3})([ \-\u00a0])([^\W\d_]{2,})(?![^\W_]|:|@|\.[a-z])")
_LAST_NAME = re.compile(r"(?<![^\W_@.\-])([^\W\d_]{2,})((?:[ \u00a0][a-z]{1,4}){0,3})([ \-\u00a0])$")
_ANSWERS = re.compile(r"(?:^|\n)[^\W\d_][^\n.!?:]{0,30}: $")
_SENTENCE = re.compile(r"(?:^|[.!?:;\n\r•|\u00bf\u00a1>\]])[\s\"'“”„«»‘’(\[\-–—*]*$")
_JOINING: Mapping[Language, tuple[str, ...]] = {
    "en": ("van", "van der", "van den", "van de", "von", "von der", "de", "de la", "del", "di", "da", "el", "bin"),
    "nl": ("de", "der", "den", "van der", "van den", "van de", "ter", "ten"),
}  # fmt: skip
"""What joins the parts of a name, and nothing else: a German is "von der" a firm, too, and a Dutchman "van" one."""
_GERMAN_NOUN_END = re.compile(
    r"(?:ung|heit|keit|schaft|tion|tät|nis|tum|mal|zeit|tag|geld|konto|nummer|karte|termin|dienst|fall|schmerz)"
    r"(?:e?n|e|s)?$"
)
_GERMAN_NOUNS = frozenset(
    """
angst anruf antwort arbeit arzt auskunft auto bescheid besuch bilder blut brief chef dank daten durst ende erfolg essen
fehler fieber fragen freude freunde geburt geduld geschenk glück grund gruß haus hilfe hunger husten idee interesse
kaffee kind kinder klage kontakt kraft kummer kunden lust mail medikament medikamente mitleid musik mut nachricht
not paket pech platz post probleme recht regen rezept ruhe schaden schlaf schuld schule sorge sorgen spaß sport stress
tabletten tee telefon tipp tod trost unfall urlaub verlust vertrag vorfahrt wasser weg woche zahnweh zucker zugang
""".split()  # noqa: SIM905  # read as words
)
"""What somebody has, gets or needs, without an article: `dann bekam Anna Fieber`."""
_ROLE_ENDINGS = tuple(
    """
leiter leiterin arbeiter arbeiterin berater beraterin partner partnerin arzt arztin meister handler nehmer kollege
kollegin freund freundin nachbar nachbarin firma familie mann frau kunde kundin
""".split()  # noqa: SIM905  # read as words
)
_NO_NAMES = (TITLES, MONTHS_AND_DAYS, DETERMINERS, PREPOSITIONS_OF_TIME, *LITTLE_WORDS.values())
_SURNAMES_TOO = frozenset(
    ("hall", "lane", "house", "park", "church", "court", "bridge", "law", "ring", "iglesia", "plaza")
)
_PLACED = re.compile(r"(?:(?<![^\W_])(?:at|in|on|near|op|aan de|aan het|in der|an der|auf|en|en la|rue|calle)|\d) $")


def name_after(source: Searched, end: int, value: str, following: str) -> int:
    """Return the length of a name's next part: hyphened, after particles, or a word with a capital."""
    found = _NEXT_NAME.match(following)
    if found is None:
        return 0
    particles, gap, word = found.groups()
    joined = [squeeze(p) for p in particles.split()]
    if not word[0].isupper() or not PARTICLES.issuperset(joined) or word.isupper() != value.isupper():
        return 0
    parts = [part for part in value.split() if squeeze(part) not in TITLES]
    if not (joined or gap == "-") and (len(parts) != 1 or not value[0].isupper()):
        return 0
    if not _may_be_name(source, word) or _is_public(source.text, end, value, following[found.start(2) :]):
        return 0
    if gap == "-" or (joined and " ".join(joined) in _JOINING.get(source.language, ())):
        return found.end()
    return 0 if joined or (source.is_german and _is_german_noun(word)) else found.end()


def _is_public(text: str, end: int, value: str, following: str) -> bool:
    """Return whether a street, a firm or a hospital is named after somebody: `Johnson Hospital`, `at Susan Lane`."""
    words = _WORD.findall(following)[:2]
    if len(words) > 1 and squeeze(words[1]) in PUBLIC_NEIGHBOURS and following[1 + len(words[0])] == " ":
        return True
    start, beside = end - len(value), squeeze(words[0])
    if beside not in _SURNAMES_TOO:
        return beside in PUBLIC_NEIGHBOURS
    return _PLACED.search(text, max(0, start - _AROUND), start) is not None


def _is_german_noun(word: str) -> bool:
    return word.lower() in _GERMAN_NOUNS or _GERMAN_NOUN_END.search(word.lower()) is not None


def _may_be_name(source: Searched, word: str) -> bool:
    """Return whether a word with a capital isn't one that has it for another reason."""
    plain = squeeze(word)
    if any(plain in words for words in _NO_NAMES):
        return False
    return not (source.is_german and source.count_lower_case(word.lower()))


def _is_answer(text: str, at: int, start: int, value: str) -> bool:
    """Return whether a line says two words and no more, as in `Patient: Bo Smid`."""
    after = text[start + len(value) : start + len(value) + 2]
    if after not in {"", ".", ". ", ".\n", ", ", ",\n"} and after[:1] not in {"\n", "\r"}:
        return False
    word = squeeze(text[at:start])
    if word in ORDINARY or word in INTERJECTIONS:
        return False
    return _ANSWERS.search(text, max(0, at - _REACH), at) is not None


def name_before(source: Searched, start: int, value: str, before: str) -> int:
    """Return the length of a name's part before the mask; a sentence's first word has a capital anyway."""
    found = _LAST_NAME.search(before)
    if found is None or not value[0].isupper() or len(value.split()) != 1:
        return 0
    word, particles, gap = found.groups()
    plain = squeeze(word)
    if not word[0].isupper() or word.isupper() or not PARTICLES.issuperset(map(squeeze, particles.split())):
        return 0
    at = start - len(found[0])
    begins = gap != "-" and _SENTENCE.search(source.text, max(0, at - _REACH), at) is not None
    if begins and not _is_answer(source.text, at, start, value):
        return 0
    if any(plain in words for words in (PARTICLES, PUBLIC_NEIGHBOURS, ROLES)) or not _may_be_name(source, word):
        return 0
    if source.count_lower_case(word.lower()):
        return 0
    german = source.is_german and (plain in ORDINARY or _is_german_noun(word) or plain.endswith(_ROLE_ENDINGS))
    return 0 if german else len(found[0])
