"""What the leak injector says beside the product's own transcripts: sentences in four languages, `{}` for a value.

Every sentence is nobody's personal data but for the values put into it. Ordinary words that are names too stand here
with the sentences that use them as words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Language = Literal["en", "nl", "de", "es"]
LANGUAGES: tuple[Language, ...] = ("en", "nl", "de", "es")

FIRST_MENTION: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "PERSON": "My name is {}, by the way.",
        "PHONE_NUMBER": "My number is {}, any time.",
        "EMAIL_ADDRESS": "Please write to {} about it.",
        "ADDRESS": "I live at {}.",
        "IBAN_CODE": "The account is {}.",
        "CREDIT_CARD": "I paid with {} last time.",
        "DATE_OF_BIRTH": "I was born on {}.",
        "NATIONAL_ID": "On the form I wrote {}.",
    },
    "nl": {
        "PERSON": "Mijn naam is trouwens {}.",
        "PHONE_NUMBER": "Mijn nummer is {}, altijd bereikbaar.",
        "EMAIL_ADDRESS": "Stuur het maar naar {}.",
        "ADDRESS": "Ik woon op {}.",
        "IBAN_CODE": "De rekening is {}.",
        "CREDIT_CARD": "Ik heb betaald met {} vorige keer.",
        "DATE_OF_BIRTH": "Ik ben geboren op {}.",
        "NATIONAL_ID": "Op het formulier staat {}.",
    },
    "de": {
        "PERSON": "Mein Name ist übrigens {}.",
        "PHONE_NUMBER": "Meine Nummer ist {}, jederzeit.",
        "EMAIL_ADDRESS": "Schreiben Sie bitte an {}.",
        "ADDRESS": "Ich wohne hier: {}.",
        "IBAN_CODE": "Das Konto ist {}.",
        "CREDIT_CARD": "Bezahlt habe ich mit {} beim letzten Mal.",
        "DATE_OF_BIRTH": "Ich bin am {} geboren.",
        "NATIONAL_ID": "Auf dem Formular steht {}.",
    },
    "es": {
        "PERSON": "Por cierto, me llamo {}.",
        "PHONE_NUMBER": "Mi número es {}, a cualquier hora.",
        "EMAIL_ADDRESS": "Escríbame a {}, por favor.",
        "ADDRESS": "Vivo en {}.",
        "IBAN_CODE": "La cuenta es {}.",
        "CREDIT_CARD": "Pagué con {} la última vez.",
        "DATE_OF_BIRTH": "Nací el {}.",
        "NATIONAL_ID": "En el formulario puse {}.",
    },
}

AGAIN: Mapping[Language, tuple[str, ...]] = {
    "en": ("As I said: {}.", "Note for the file: {}", "It says {} here.", "And once more, {}, so that it's right."),
    "nl": (
        "Zoals ik zei: {}.",
        "Notitie voor het dossier: {}",
        "Hier staat {}.",
        "En nog een keer, {}, voor de zekerheid.",
    ),
    "de": ("Wie gesagt: {}.", "Vermerk für die Akte: {}", "Hier steht {}.", "Und noch einmal, {}, damit es stimmt."),
    "es": ("Como dije: {}.", "Nota para el expediente: {}", "Aquí pone {}.", "Y otra vez, {}, para que conste."),
}

SURNAME_AGAIN: Mapping[Language, tuple[str, ...]] = {
    "en": ("I passed it on to Ms {} yesterday.", "The file says {} on the cover.", "Mr {} knows about it."),
    "nl": ("Ik heb het aan mevrouw {} doorgegeven.", "Op de map staat {}.", "Meneer {} weet ervan."),
    "de": ("Ich habe es an Frau {} weitergegeben.", "Auf der Mappe steht {}.", "Herr {} weiß davon."),
    "es": ("Se lo pasé a la señora {} ayer.", "En la carpeta pone {}.", "El señor {} ya lo sabe."),
}

LISTED: Mapping[Language, str] = {
    "en": "All of them: {}{}{}{}{}",
    "nl": "Allemaal: {}{}{}{}{}",
    "de": "Alle zusammen: {}{}{}{}{}",
    "es": "Todos juntos: {}{}{}{}{}",
}

CHEER: Mapping[Language, str] = {
    "en": "Great 😀👍 thanks a lot.",
    "nl": "Top 😀👍 heel erg bedankt.",
    "de": "Super 😀👍 vielen Dank.",
    "es": "Genial 😀👍 muchas gracias.",
}
"""With two characters beyond the basic plane."""

ACCENTS: Mapping[Language, str] = {
    "en": "We met at the café, naïve as we were.",
    "nl": "Wij coördineren dat met de crèche.",
    "de": "Über die Gebühr möchte ich später sprechen.",
    "es": "Además llamó después la compañía.",
}
"""With two to five letters that take two bytes."""

PUBLIC_CITY: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "Our branch in {} is open on Saturdays.",
        "The train to {} was late again.",
        "The mayor of {} said so on TV.",
    ),
    "nl": (
        "Ons filiaal in {} is op zaterdag open.",
        "De trein naar {} had weer vertraging.",
        "In {} was de markt druk.",
    ),
    "de": ("Unsere Filiale in {} hat samstags auf.", "Der Zug nach {} war wieder verspätet.", "In {} war Markt."),
    "es": ("Nuestra oficina de {} abre los sábados.", "El tren a {} llegó tarde otra vez.", "En {} había mercado."),
}

NUMBER: Mapping[Language, tuple[str, ...]] = {
    "en": ("Please answer within {} days.", "There are {} people before you.", "It weighs {} grams."),
    "nl": ("Graag binnen {} dagen reageren.", "Er zijn {} wachtenden voor u.", "Het weegt {} gram."),
    "de": ("Bitte antworten Sie innerhalb von {} Tagen.", "Vor Ihnen warten {} Leute.", "Es wiegt {} Gramm."),
    "es": ("Conteste en {} días, por favor.", "Hay {} personas delante.", "Pesa {} gramos."),
}

YEAR: Mapping[Language, tuple[str, ...]] = {
    "en": ("The firm has been here since {}.", "That model is from {}."),
    "nl": ("Het bedrijf zit hier sinds {}.", "Dat model is uit {}."),
    "de": ("Die Firma gibt es seit {}.", "Das Modell ist von {}."),
    "es": ("La empresa está aquí desde {}.", "Ese modelo es de {}."),
}

ALREADY_MASKED: Mapping[Language, tuple[str, ...]] = {
    "en": ("The mail said: Dear [NAME], call <PHONE_NUMBER>.", "The person was on the phone, name unknown: *****."),
    "nl": (
        "In de mail stond: Beste [NAAM], bel <PHONE_NUMBER>.",
        "De persoon was aan de telefoon, naam onbekend: *****.",
    ),
    "de": (
        "In der Mail stand: Liebe [NAME], Tel. <PHONE_NUMBER>.",
        "Die Person war am Telefon, Name unbekannt: *****.",
    ),
    "es": ("El correo decía: Hola [NOMBRE], tel. <PHONE_NUMBER>.", "La persona llamó, nombre desconocido: *****."),
}

SHARED_DOMAIN: Mapping[Language, str] = {
    "en": "Everybody else writes to billing@{}.",
    "nl": "Alle anderen schrijven naar facturen@{}.",
    "de": "Alle anderen schreiben an rechnung@{}.",
    "es": "Los demás escriben a facturas@{}.",
}

ORDINARY_FIRST: Mapping[Language, Mapping[str, tuple[str, ...]]] = {
    "en": {
        "Will": ("Will you send it today?", "I know it will be fine."),
        "Mark": ("Mark the box on the left, please.", "There is a mark on the screen."),
        "Rose": ("The price rose again.", "Rose bushes were planted there."),
        "Grant": ("We can grant you a week more.", "The grant was paid."),
        "Bill": ("Bill and receipt are in the box.", "I got the bill last week."),
        "Frank": ("To be frank, it took too long.",),
        "Hope": ("Hope that helps!", "I hope so."),
        "Summer": ("In summer it was still working.", "Summer is over."),
        "Chase": ("I had to chase the courier.",),
        "Faith": ("I had faith in this shop.",),
    },
    "nl": {
        "Roos": ("Er stond een roos op de doos.", "Roos en tulp zijn uitverkocht."),
        "Mark": ("Het kostte vroeger tien mark.",),
        "Bloem": ("Er zat een bloem bij.",),
        "Storm": ("Door de storm viel alles uit.", "Storm of niet, ik kom."),
        "Lente": ("In de lente deed hij het nog.", "Lente of zomer maakt niet uit."),
    },
    "de": {
        "Rose": ("Eine Rose lag dabei.", "Es war keine Rose."),
        "Mark": ("Damals kostete es hundert Mark.", "Die Mark gibt es nicht mehr."),
        "Ernst": ("Das ist mein Ernst.", "Im Ernst, so geht es nicht."),
        "Wolf": ("Der Fleischwolf ist kaputt, der Wolf auch.",),
        "Frank": ("Der Brief war frank und frei.",),
        "Viola": ("Die Viola steht im Schrank.",),
        "Heide": ("Wir wohnen an der Heide.",),
    },
    "es": {
        "Rosa": ("El sobre era de color rosa.", "Había una rosa en la caja."),
        "Pilar": ("El pilar del garaje está roto.",),
        "Luz": ("La luz parpadea.", "Sin luz no funciona."),
        "Consuelo": ("Menudo consuelo.", "No hay consuelo."),
        "Alba": ("Salimos al alba.",),
        "Angel": ("Es usted un ángel.",),
        "Rocío": ("Por la mañana hay rocío.",),
        "Dolores": ("Tengo dolores de espalda.",),
    },
}

ORDINARY_LAST: Mapping[Language, Mapping[str, tuple[str, ...]]] = {
    "en": {
        "May": ("That was in May.", "You may call me.", "May I ask something?"),
        "Price": ("The price is too high.", "Price and quality are fine."),
        "Young": ("My son is too young for that.", "Young people like it."),
        "King": ("It came in a king size box.", "King size, please."),
        "Stone": ("A stone hit the window.", "Stone floors are cold."),
        "Brown": ("It is the brown parcel.", "Brown or black, I don't mind."),
        "Street": ("The whole street was dark.", "Street parking is full."),
        "Field": ("Fill in the last field.", "Field staff will come."),
        "Long": ("How long does it take?", "Long story."),
        "Best": ("What's best for you?", "Best wishes."),
    },
    "nl": {
        "Berg": ("Er ligt een berg papier.", "De berg was te steil."),
        "Bakker": ("De bakker om de hoek neemt het aan.",),
        "Visser": ("Een visser vond het pakje.",),
        "Groot": ("Het pakket is te groot.", "Groot of klein maakt niet uit."),
        "Jong": ("Mijn zoon is te jong.", "Jong en oud komt hier."),
        "Winter": ("In de winter is het koud.", "Winter of zomer, altijd open."),
        "Koning": ("De koning was op tv.",),
        "Dijk": ("Achter de dijk is geen bereik.",),
        "Zwart": ("Liever in het zwart.", "Zwart is uitverkocht."),
        "Brouwer": ("De brouwer levert op maandag.",),
    },
    "de": {
        "Berg": ("Das Haus steht am Berg.", "Der Berg ist zu steil."),
        "Koch": ("Der Koch im Heim hat es angenommen.", "Unser Koch war dabei."),
        "Sommer": ("Im Sommer ging es noch.", "Der Sommer war heiß."),
        "Winter": ("Im Winter ist es kalt.", "Der Winter kommt."),
        "Lang": ("Es dauert zu lang.", "Lang ist das her."),
        "Klein": ("Das Paket ist zu klein.", "Klein, aber fein."),
        "Schwarz": ("Lieber in schwarz.", "Schwarz wäre mir recht."),
        "Stein": ("Ein Stein traf das Fenster.", "Der Boden ist aus Stein."),
        "Bauer": ("Der Bauer nebenan hat es gesehen.",),
        "Jung": ("Mein Sohn ist zu jung.", "Jung und Alt kommen her."),
    },
    "es": {
        "Reyes": ("Llegó después de Reyes.", "Los reyes salieron en la tele."),
        "Flores": ("Venían unas flores.", "Flores y tarjeta, todo bien."),
        "Blanco": ("Lo quiero en blanco.", "Blanco o negro, me da igual."),
        "Campo": ("Vivimos en el campo.", "Rellene el último campo."),
        "Calle": ("La calle estaba a oscuras.", "Calle cortada, dijeron."),
        "Bueno": ("Bueno, no pasa nada.", "Está bueno."),
        "Iglesias": ("Visitamos dos iglesias.",),
        "Rubio": ("El chico rubio lo trajo.",),
        "Casas": ("Hay dos casas en la finca.",),
        "Delgado": ("El cable es muy delgado.",),
    },
}
