"""Words around names: what stands before and beside one, and what shows that no person is meant. Squeezed words.

English, Dutch, German, Spanish and French.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Language = Literal["en", "nl", "de", "es", "fr"]


def _listed(*words: str) -> frozenset[str]:
    return frozenset(" ".join(words).split())


MONTHS_AND_DAYS = _listed(
    "abril agosto aout apr april aug august augustus avril dec december decembre dezember diciembre dienstag dimanche",
    "dinsdag domingo donderdag donnerstag enero feb febrero februar februari february fevrier freitag fri friday jan",
    "januar januari january janvier jeudi jueves juillet juin jul juli julio july jun june juni junio lundi lunes",
    "maandag maart mai mar march mardi mars martes marz marzo may mayo mei mercredi miercoles mittwoch mon monday",
    "montag nov november novembre noviembre oct october octobre octubre oktober sabado samedi samstag sat saturday",
    "sep sept september septembre septiembre setiembre sonnabend sonntag sun sunday thu thursday tue tuesday vendredi",
    "viernes vrijdag wed wednesday woensdag zaterdag zondag",
)
PARTICLES = _listed(
    "aan abd abu al auf ben bin da das de del den der des di do dos du e el het i ibn in jr junior la las le les los",
    "mac mc o op saint san santa senior sint sr st te ten ter van vanden vander ver vom von y zu zum zur",
)
"""What joins the parts of a name."""
TITLES = _listed(
    "abuela abuelo agent attn aunt beste bonjour brother caller captain cher chere client cliente colleague contact",
    "contactpersoon customer dad dame dear dhr dipl docteur doctor doctora dokter doktor don dona dr dra drs employee",
    "estimada estimado frau fraulein from geachte geehrte geehrter grandma grandpa groet groeten gruss grusse guten",
    "hallo heer hello herr herrn hey hi hoi hola ing ir judge juffrouw klant kollege kollegin kunde kundin liebe",
    "lieber m madam madame mademoiselle mag maitre medewerker meneer mevr mevrouw mijnheer minister miss mister mlle",
    "mme mom monsieur mr mrs ms mum mw naam name nom nombre nurse officer oma onkel oom opa paciente patient",
    "patientin president prof profesor profesora professeur professor querida querido regards saludos salut sehr",
    "senor senora senorita sincerely sir sister sr sra srta tante thank thanks tia tio uncle user yours",
)
"""What stands before a name, and is none."""
DETERMINERS = _listed(
    "a al am an ans any au aux beim cada ce ces cette chaque das dat de dein del dem den der des deze die diese",
    "diesen dieser dieses dit du each een ein eine einem einen einer eines el elke esa ese esta estas este estos",
    "every geen haar her het his hun ieder iedere ihr ihre im ins its je jede jeder jedes jouw kein keine keinem",
    "keinen l la las le les leur leurs los ma mein meine meinen mes mi mijn mis mon my no notre nuestra nuestro of",
    "ons onze otro our sa sein seine ses some son su sus ta tes that the their these this those ton tu tus un una",
    "unas une unos unser unsere uw vom votre welke what which whose your zijn zum zur",
)
"""What stands before an ordinary word, and hardly before a name."""
NAMING = _listed(
    "apellido apellidos dhr dokter dr dra drs fam familie frau fraulein heer heet heette heisst herr herrn hiess",
    "juffrouw llamada llamado llamo madame mademoiselle meneer messrs mevr mevrouw mijnheer miss mister mlle mm mme",
    "monsieur mr mrs ms mw named namens nachnamens nommee professor prof senor senora senorita sir sr sra srta surname",
    "surnamed genaamd apodado apodada",
)
"""What stands before a name and before nothing else, whatever the language writes with a capital."""
GREETINGS = _listed(
    "beste bonjour cher chere dag dear estimada estimado geachte geehrte geehrter hallo hello hey hi hoi hola liebe",
    "cordialement groet groeten lieber gruss grusse hoogachtend regards saludos sincerely",
    "merci bedankt danke gracias thanks querida querido salut welkom willkommen welcome bienvenida bienvenido",
)
"""What stands before a name that is spoken to, with a comma or nothing after it."""
FIELDS = _listed(
    "best abonne anrufer apellido apellidos arts arzt assure beller caller client cliente contact cordialement",
    "customer employee groet groeten gruss grusse hoogachtend klant kunde kundin medecin medewerker naam nachname name",
    "nom nombre paciente patient patientin prenom regards saludos sincerely surname tomador thanks vorname voornaam",
    "achternaam",
)
"""A name's field in a form, and what closes a letter: a line that ends with the word after it names somebody."""
PERSONS_VERBS: Mapping[Language, frozenset[str]] = {
    "en": _listed(
        "agreed answered asked asks called calls complained confirmed emailed explained indicated insisted",
        "knew knows mentioned phoned promised refused replied said says signed tells thinks thought told",
        "wants writes wrote",
    ),
    "nl": _listed(
        "antwoordde belde belt bevestigde beloofde denkt dacht klaagde mailde mailt schreef schrijft tekende vertelde",
        "vertelt vraagt weet wist wilde woont woonde zegt zei meldde",
    ),
    "de": _listed(
        "antwortete behauptet behauptete bestatigte denkt dachte erklarte erzahlt erzahlte fragt fragte meinte meint",
        "ruft rief sagt sagte schreibt schrieb unterschrieb telefonierte versprach weiss wohnt wohnte wusste",
    ),
    "es": _listed(
        "comento confirmo contesto dice dijo escribe escribio explico firmo insistio llamo piensa prometio quiere",
        "queria respondio sabe sabia vive vivia",
    ),
    "fr": _listed(
        "affirme affirma appela appelle confirma declara declare demandait dit ecrit ecrivait explique expliqua habite",
        "habitait pense pensait promit raconta raconte repond repondit sait savait signa telephona veut voulait",
    ),
}
"""What only people do; without those that are other words, too (`vroeg`, `llama`)."""
SAID_BEFORE = _listed("sagte meinte antwortete entgegnete zei antwoordde dijo contesto respondio")
"""What somebody did who is named after it."""
CONJUNCTIONS = _listed(
    "and but because when that if en maar dat omdat toen als und aber dass weil ob y e pero que porque cuando si et",
    "mais parce quand car",
)
"""What a clause begins with, before who does something in it."""
ARTICLES: Mapping[Language, frozenset[str]] = {
    "en": _listed("a an the my your our their its his no any every each some"),
    "nl": _listed("een het mijn je jouw uw ons onze hun geen"),
    "es": _listed("al del el la los las un una unos unas mi mis tu tus su sus nuestro nuestra"),
    "fr": _listed("au aux ce cette des du l la le les leur leurs ma mes mon notre sa ses son un une votre"),
}
"""What doesn't stand before a name inside a sentence. Dutch `de` does, in names."""
PREPOSITIONS_OF_TIME = _listed(
    "ab am antes apres avant begin bis by debut depuis desde despues during early eind en fin finales half hasta im",
    "in last late letzten mediados mid nach nachsten next on op para pasado por principios seit since sinds till tot",
    "until vanaf volgende vor vorige",
)
PUBLIC_NEIGHBOURS = _listed(
    "act ag airport allee association avda ave avenida avenue award bahnhof bank barrio boulevard bridge building bv",
    "calle camino carretera center centre church city clinic clinica clinique co colegio college company corp county",
    "court dijk disease drive ecole effect eglise enfermedad escala estacion ev fondation foundation fundacion gare",
    "gasse gemeente gmbh gracht groep group grupo gruppe hall hopital hospital hotel house iglesia inc institute",
    "island kade kerk kg kirche kliniek klinik klinikum krankenhaus krankheit laan lake lane law library llc llp ltd",
    "maladie method methode musee museo museum nv park paseo place platz plaza plc plein prison prize provincie",
    "prueba quai rd restaurant ring river road rue sa sarl sas scale school schule score sign signo sindrome singel",
    "sl slu sociedad society square st stadium station stichting stiftung str straat strasse street syndrom syndrome",
    "test theater theatre tower town ufer universidad universitat universite universiteit university valley verein",
    "vof weg ziekenhuis ziekte",
)
"""What stands beside a name that a street, a firm or an illness bears."""
INTERJECTIONS = _listed(
    "adios afternoon alli aqui ask bedankt bel bien bitte bonjour buenas bueno buenos bye call cheers claro contact",
    "daar dag dank danke das doei el ella elle email er es evening find fine frag gern gerne goed good goodbye",
    "graag gracias great gut guten hallo he hello here hey hi hier hij hoi hola i ich ici ik il it ja je jij leuk",
    "llame mail meet merci mooi morning nee nein nice no non nope nous ok okay oui perfect perfecto please pregunte",
    "prima right ring ruf salut schon see she si sie siehe sorry soy speak sure tell text thank thanks there they",
    "this tschuss u usted vale voici vous vraag we welcome well wij wir yeah yep yes yo you zie zij",
)
"""What a line may begin with before a name that it speaks to, or of."""
ROLES = _listed(
    "abogada abogado absender advocaat agent amiga amigo ansprechpartner ansprechpartnerin anwalt anwaltin",
    "applicant arts arzt arztin author berater beraterin boss bruder buurman buurvrouw chef chefin client cliente",
    "collega contact customer daughter defendant directeur director directora empfanger empleada empleado employee",
    "familia familie family firma frau freund freundin friend geschaftsfuhrer huisarts husband inhaber inhaberin",
    "jefa jefe kind klant kollege kollegin kunde kundin lehrer lehrerin manager mandant mandantin mann medewerker",
    "member mieter mieterin mitarbeiter mitarbeiterin mutter nachbar nachbarin neighbor neighbour nurse officer oma",
    "opa owner paciente patient patientin plaintiff recipient sachbearbeiter sachbearbeiterin schwester sender sohn",
    "son tenant tochter user vater vecina vecino vermieter vermieterin verpleegkundige vriend vriendin wife witness",
    "zeuge zeugin",
)
"""What people are to one another: a noun with a capital in German, and in a form's field in every language."""
STREETS = _listed(
    "allee av avda ave avenida avenue bd blvd boulevard c calle camino carretera chemin close cours court crescent ct",
    "ctra dijk dr drive gardens gasse glorieta gracht highway hill hwy impasse kade laan lane ln mews parkway paseo",
    "pl place platz plaza plein plza pza quai rd road ronda route row rue singel sq square st str straat strasse",
    "street terrace travesia ufer urbanizacion via vial way weg",
)
"""Words that make a street of those beside them."""
STREET_ENDINGS = tuple(
    _listed("straat laan plein kade gracht singel steeg dreef plantsoen dijk weg strasse gasse allee platz ufer damm")
)
"""What a street's name may end in, in Dutch and German."""
LITTLE_WORDS: Mapping[Language, frozenset[str]] = {
    "en": _listed(
        "the and is of to in that it was for you with not this have are my we be on",
    ),
    "nl": _listed(
        "de het een van ik je dat niet zijn op en met voor wat dit heb mijn maar aan uw belde ook nog bij",
    ),
    "de": _listed(
        "der die das und ist nicht ich sie wir mit auf für ein eine einen den dem zu von bei im am auch hat dann",
        "war bin kam wird sind haben oder sich noch wie",
    ),
    "es": _listed(
        "el la los que y es un una por con para lo mi en del las no se su como él llamó vino está qué sí",
    ),
    "fr": _listed(
        "le la les et est des un une que pas pour je vous dans du au ce sur nous avec",
    ),
}
"""What tells a language, as every sentence has some of them."""
