"""Names that are ordinary words and stand in no list of the product: right outputs that use the word, and leaks of it.

A held-out set: whoever changes the check's rules or lists leaves these words alone. Each is somebody's name in four
forms: `full` (`Tom Harvest`), `titled` (`Mr Harvest`, of which the name alone is flagged), `alone` (`Harvest`), `given`
(`Harvest Jones`). In a right output all of the name is masked and three other sentences use the word as what it is. In
a leak one other sentence says the name once more: the surname in `full`, in `given` the given name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Literal, NamedTuple

from monitor.leaks.check import check
from monitor.leaks.findings import Checked
from monitor.leaks.policy import Policy
from monitor.leaks.screen import examine
from monitor.records import Span

Lang = Literal["en", "de", "es", "fr", "nl"]
Form = Literal["full", "titled", "alone", "given"]
FORMS: tuple[Form, ...] = ("full", "titled", "alone", "given")
_MASKS = ("<PERSON>", "[PERSON_1]", "*****", "[[NAME]]", "")


def _words(*lines: str) -> tuple[str, ...]:
    return tuple(" ".join(lines).split())


WORDS: Mapping[Lang, Mapping[str, tuple[str, ...]]] = {
    "en": {
        "the": _words(
            "anvil arrow banner barrel basin beacon blade bolt bonfire bramble bucket button cabin candle canyon",
            "cellar chamber chisel compass ferry cloud coach cradle crank diver draper drummer fence fiddler",
            "fossil frame furlong garrison glazier glover granger gunner hammock harness harvest hatchet hurdle",
            "joiner kettle lantern ledger locket magnet mallet market mortar nugget packer paddle pitcher planter",
            "quarry rafter ripple roper saddle sailor scholar shovel spindle spinner sponge stable starling",
            "tackle teller thistle tower trapper tumbler turnip valley wagon whisker workman",
        ),
        "adjective": _words(
            "brisk eager fickle hasty lofty mellow moody nimble proper rough sober sturdy tidy wary weary",
        ),
    },
    "de": {
        "der": _words(
            "Amboss Bäcker Becher Besen Bolzen Böttcher Brauer Drechsler Drescher Färber Förster Gärtner Gerber",
            "Giebel Habicht Hamster Händler Hocker Imker Köhler Krämer Kranich Kuckuck Küfer Kutscher Löffel",
            "Marder Müller Pfarrer Pflug Reiher Sattler Schäfer Schlosser Schneider Seiler Sessel Spengler Teller",
            "Weber Zöllner",
        ),
        "die": _words(
            "Ampel Ernte Feile Hacke Harke Kelle Nessel Sense Sichel Wolke",
        ),
        "das": _words(
            "Seil Tal Ufer",
        ),
        "adjective": _words(
            "flink heiter kühn munter nüchtern sanft sauber scharf streng wach zart",
        ),
    },
    "es": {
        "el": _words(
            "alfarero almendro almirante gorrión jilguero olivar arenal ballestero barbero barranco cazador",
            "cerezo cordelero encinar escudero escudo establo faro fresno helecho herrador huerto labrador",
            "marqués nogal pajar pescador tambor zurrador",
        ),
        "la": _words(
            "ballesta cerca cigüeña espada gallina lámpara lanza ventana viga",
        ),
        "adjective": _words(
            "amargo bonito fresco ligero manso quieto rápido sereno vivo",
        ),
    },
    "fr": {
        "le": _words(
            "armurier batelier bouleau buisson carrier chameau chasseur clocher cordonnier coucou couteau",
            "couvreur facteur fermier frêne gant hibou laboureur lapin maçon marteau peuplier pêcheur pinson",
            "potier poulain rideau rossignol sabotier savetier sellier tilleul tisserand tonneau tonnelier",
            "vannier ruisseau sentier vigneron",
        ),
        "la": _words(
            "barrière colline grange",
        ),
        "adjective": _words(
            "gaillard galant hardi prudent sauvage savant tranquille vaillant",
        ),
    },
    "nl": {
        "de": _words(
            "akker beitel berk bever boswachter braam dominee egel ekster emmer fazant hamster havik iep kapitein",
            "kastanje kip kwartel lijster mandenmaker matroos ooievaar otter pastoor populier raadsman rechter",
            "reiger roeier schaapherder sloot spinner stratenmaker stuurman touwslager kievit zwaluw tuinman uil",
            "veehouder veerman vijver zaag zadelmaker",
        ),
        "adjective": _words(
            "helder moedig slim trouw vlot vroom wakker zuiver",
        ),
    },
}
"""By article, or adjectives. None of them is in `monitor.leaks.ordinary_words`, which a test asserts."""

_NOUN: Mapping[Lang, tuple[str, ...]] = {
    "en": (
        "We looked for the {w} all day.",
        "It is an old {w} in red.",
        "{W} and parcel arrived together.",
        "{W} wanted, the sign says.",
        "They sell it by {w} or by weight.",
        "Without {w} it's no use.",
        'He only said "{w}" and hung up.',
        "\nSubject: {W}\n",
        "{W} or not, I want my money back.",
        "\n{W}\nThat was the heading.",
        "Enter one word: {w}.",
        "That is a matter of {w}, price and time.",
    ),
    "de": (
        "Wir haben {a} {W} gesehen.",
        "Es war kein {W} in der Nähe.",
        "{W} und Paket kamen zusammen an.",
        "{W} gesucht, steht auf dem Schild.",
        "Ich arbeite jetzt als {W} in der Stadt.",
        "Ohne {W} geht es nicht.",
        "Er sagte nur: {W}.",
        "\nBetreff: {W}\n",
        "Da steht ein alter {W} im Hof.",
        "\n{W}\nDas war die Überschrift.",
        "Mein Vater war {W} von Beruf.",
        "Das ist eine Frage von {W}, Preis und Zeit.",
    ),
    "es": (
        "Buscamos {a} {w} todo el día.",
        "Es un viejo {w} de color rojo.",
        "{W} y paquete llegaron juntos.",
        "Se busca {w}, dice el cartel.",
        "Lo venden por {w} o por peso.",
        "Sin {w} no sirve de nada.",
        'Solo dijo "{w}" y colgó.',
        "\nAsunto: {W}\n",
        "{W} o no, quiero mi dinero.",
        "\n{W}\nEse era el título.",
        "Escriba una palabra: {w}.",
        "Mi padre era {w} de oficio.",
    ),
    "fr": (
        "Nous avons cherché {a} {w} toute la journée.",
        "C'est un vieux {w} de couleur rouge.",
        "{W} et colis sont arrivés ensemble.",
        "{W} recherché, dit le panneau.",
        "Mon père était {w} de métier.",
        "Sans {w} cela ne sert à rien.",
        'Il a juste dit "{w}" et a raccroché.',
        "\nObjet : {W}\n",
        "{W} ou pas, je veux mon argent.",
        "\n{W}\nC'était le titre.",
        "Entrez un mot : {w}.",
        "C'est une question de {w}, de prix et de temps.",
    ),
    "nl": (
        "We zochten {a} {w} de hele dag.",
        "Het is een oude {w} in het rood.",
        "{W} en pakket kwamen samen aan.",
        "{W} gezocht, staat op het bord.",
        "Mijn vader was {w} van beroep.",
        "Zonder {w} heb je er niets aan.",
        'Hij zei alleen "{w}" en hing op.',
        "\nOnderwerp: {W}\n",
        "{W} of niet, ik wil mijn geld terug.",
        "\n{W}\nDat was de kop.",
        "Vul één woord in: {w}.",
        "Dat is een kwestie van {w}, prijs en tijd.",
    ),
}
_ADJECTIVE: Mapping[Lang, tuple[str, ...]] = {
    "en": (
        "That was very {w} of you.",
        "{W} people like it.",
        "It looks {w} to me.",
        "{W}, but fine.",
        "One word for it: {w}.",
        "Not {w} enough, I think.",
    ),
    "de": (
        "Das war sehr {w} von Ihnen.",
        "{W}, aber gut.",
        "Es sieht {w} aus.",
        "{W} und schnell, so soll es sein.",
        "Ein Wort dafür: {w}.",
        "Nicht {w} genug, glaube ich.",
    ),
    "es": (
        "Es muy {w}, la verdad.",
        "{W}, pero bueno.",
        "Me parece {w}.",
        "{W} y barato, así me gusta.",
        "Una palabra: {w}.",
        "No es {w} del todo.",
    ),
    "fr": (
        "C'est très {w}, je trouve.",
        "{W}, mais bien.",
        "Il a l'air {w}.",
        "{W} et pas cher, voilà.",
        "Un mot : {w}.",
        "Pas assez {w}, je crois.",
    ),
    "nl": (
        "Dat was heel {w} van u.",
        "{W}, maar goed.",
        "Het lijkt me {w}.",
        "{W} en goedkoop, zo wil ik het.",
        "Eén woord: {w}.",
        "Niet {w} genoeg, denk ik.",
    ),
}
_FIRST: Mapping[Lang, Mapping[Form, str]] = {
    "en": {
        "full": "My name is Tom {n}, by the way.",
        "titled": "I spoke to Mr {n} about it.",
        "alone": "I spoke to {n} about it.",
        "given": "My name is {n} Abernathy, by the way.",
    },
    "de": {
        "full": "Mein Name ist übrigens Jens {n}.",
        "titled": "Ich habe mit Herrn {n} gesprochen.",
        "alone": "Ich habe mit {n} gesprochen.",
        "given": "Mein Name ist übrigens {n} Abendroth.",
    },
    "es": {
        "full": "Por cierto, me llamo Jorge {n}.",
        "titled": "Hablé con el señor {n} ayer.",
        "alone": "Hablé con {n} ayer.",
        "given": "Por cierto, me llamo {n} Abellán.",
    },
    "fr": {
        "full": "Je m'appelle Yves {n}, au fait.",
        "titled": "J'ai parlé à Mme {n} hier.",
        "alone": "J'ai parlé à {n} hier.",
        "given": "Je m'appelle {n} Aubertin, au fait.",
    },
    "nl": {
        "full": "Mijn naam is trouwens Joep {n}.",
        "titled": "Ik sprak met meneer {n} daarover.",
        "alone": "Ik sprak met {n} daarover.",
        "given": "Mijn naam is trouwens {n} Abbema.",
    },
}
_SURROUNDED: Mapping[Form, tuple[str, str]] = {
    "full": ("Tom Jens Jorge Yves Joep", ""),
    "titled": ("", ""),
    "alone": ("", ""),
    "given": ("", "Abernathy Abendroth Abellán Aubertin Abbema"),
}
LEFT: Mapping[Lang, tuple[str, ...]] = {
    "en": (
        "I passed it on to Ms {n} yesterday.",
        "The file says {n} on the cover.",
        "{n} called again this morning.",
        "Kind regards,\n{n}\n",
        "We gave it to {n} last week.",
        "{n} is not at home.",
        "The parcel for J. {n} is here.",
        "{n} doesn't like that.",
    ),
    "de": (
        "Ich habe es an Frau {n} weitergegeben.",
        "Auf der Mappe steht {n}.",
        "{n} sagte, es eilt.",
        "Viele Grüße\n{n}\n",
        "Wir haben es {n} gegeben.",
        "{n} ist nicht zu Hause.",
        "Das Paket für J. {n} ist da.",
        "Das mag {n} nicht.",
    ),
    "es": (
        "Se lo pasé a la señora {n} ayer.",
        "En la carpeta pone {n}.",
        "{n} llamó otra vez hoy.",
        "Saludos,\n{n}\n",
        "Se lo dimos a {n} la semana pasada.",
        "{n} no está en casa.",
        "El paquete para J. {n} está aquí.",
        "A {n} no le gusta.",
    ),
    "fr": (
        "Je l'ai transmis à Mme {n} hier.",
        "Sur le dossier il y a {n}.",
        "{n} appelle souvent le matin.",
        "Cordialement,\n{n}\n",
        "Nous l'avons donné à {n} la semaine dernière.",
        "{n} n'est pas à la maison.",
        "Le colis pour J. {n} est là.",
        "Cela ne plaît pas à {n}.",
    ),
    "nl": (
        "Ik heb het aan mevrouw {n} doorgegeven.",
        "Op de map staat {n}.",
        "{n} belde vanmorgen weer.",
        "Groet,\n{n}\n",
        "We hebben het vorige week aan {n} gegeven.",
        "{n} is niet thuis.",
        "Het pakket voor J. {n} is er.",
        "Dat vindt {n} niet leuk.",
    ),
}
_FILLER: Mapping[Lang, tuple[str, ...]] = {
    "en": ("The parcel was late and the box was open.", "I have been waiting for an answer for two weeks."),
    "de": ("Das Paket kam zu spät und die Kiste war offen.", "Ich warte seit zwei Wochen auf eine Antwort."),
    "es": ("El paquete llegó tarde y la caja estaba abierta.", "Llevo dos semanas esperando una respuesta."),
    "fr": ("Le colis est arrivé en retard et la boîte était ouverte.", "J'attends une réponse depuis deux semaines."),
    "nl": ("Het pakket was te laat en de doos was open.", "Ik wacht al twee weken op een antwoord."),
}


class Worded(NamedTuple):
    """A document with somebody whose name is a word."""

    lang: Lang
    form: Form
    word: str
    sentence: str
    """What leaves the name, of a leak; empty for a right output."""
    text: str
    spans: list[Span]
    redacted: str


def right_outputs(seed: int) -> Iterator[Worded]:
    """Yield a right output for each word and form."""
    for lang, kind, word, form, rng in _names(seed):
        uses = (_ADJECTIVE if kind == "adjective" else _NOUN)[lang]
        yield _written(lang, form, word, [_use(s, kind, word) for s in rng.sample(uses, 3)], "", rng)


def leaks(seed: int) -> Iterator[Worded]:
    """Yield an output that leaves the name once for each word, form and sentence."""
    for lang, _, word, form, rng in _names(seed):
        for sentence in LEFT[lang]:
            yield _written(lang, form, word, [sentence.format(n=_capital(word))], sentence, rng)


def _names(seed: int) -> Iterator[tuple[Lang, str, str, Form, Random]]:
    for lang, kinds in WORDS.items():
        for kind, words in kinds.items():
            for word in words:
                for form in FORMS:
                    yield lang, kind, word, form, Random(f"{seed} {lang} {word} {form}")  # noqa: S311  # no secret


def _capital(word: str) -> str:
    return word[0].upper() + word[1:]


def _use(sentence: str, article: str, word: str) -> str:
    accusative = {"der": "den"}.get(article, article)
    return sentence.format(w=word, W=_capital(word), a=accusative)


def _written(lang: Lang, form: Form, word: str, others: list[str], sentence: str, rng: Random) -> Worded:
    before, behind = _SURROUNDED[form]
    name = _capital(word)
    first = _FIRST[lang][form].format(n=name)
    at = first.index(name)
    start = min([at, *(first.index(given) for given in before.split() if f"{given} {name}" in first)])
    end = max([at + len(name), *(first.index(last) + len(last) for last in behind.split() if last in first)])
    parts = [*_FILLER[lang], *others]
    rng.shuffle(parts)
    place = rng.randint(0, len(parts))
    parts.insert(place, first)
    text = " ".join(parts)
    low = sum(len(part) + 1 for part in parts[:place])
    span = Span(low + start, low + end, "PERSON")
    redacted = text[: span.start] + rng.choice(_MASKS) + text[span.end :]
    return Worded(lang, form, word, sentence, text, [span], redacted)


def look(case: Worded) -> Checked:
    """Return what the check says; raise AssertionError where the screen says something else."""
    found = check(case.text, case.spans, case.redacted, Policy())
    if found != examine(case.text, case.spans, case.redacted, Policy()):
        raise AssertionError(case.text)
    return found


def told(cases: Iterable[Worded]) -> dict[tuple[Lang, Form], tuple[int, int]]:
    """Return by language and form how many cases are flagged, and how many there are."""
    of: Counter[tuple[Lang, Form]] = Counter()
    flagged: Counter[tuple[Lang, Form]] = Counter()
    for case in cases:
        of[case.lang, case.form] += 1
        flagged[case.lang, case.form] += bool(look(case).leaks)
    return {cell: (flagged[cell], count) for cell, count in of.items()}


def share(counts: Mapping[tuple[Lang, Form], tuple[int, int]], form: Form) -> tuple[int, int]:
    """Return the two counts of a form in all languages."""
    cells = [counts[lang, form] for lang in WORDS]
    return sum(flagged for flagged, _ in cells), sum(count for _, count in cells)
