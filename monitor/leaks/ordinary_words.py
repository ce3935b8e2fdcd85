"""Names that are ordinary words too, in English, Dutch, German, Spanish and French. Squeezed: no case, no accent.

A search for a flagged name meets the word that it also is: `Will`, `May`, `Berg`, `Rosa`. Which one is meant shows in
how it's written and what stands around it (`monitor.leaks.mentions`); for the words here that matters. A word that is
missing is taken for a name wherever it stands, so the list rather holds too much. Trades that have become mere
family names (`Weber`, `Schneider`) are left out: met in a text they are somebody.
"""

from __future__ import annotations

ORDINARY = frozenset(
    """
aal abad abbe abbott abend ace acebo aceite acker acosta adler agneau aguila aigle aime aimee alamo alamos alba alcalde
aldea alegre alegria aleman alferez alt alte alto amable amado amber ambre amor amores amparo amsel ancho ane anemone
anfang ange angel angeles anker apfel appel apple april aragon archer arena arenas arend arm arroyo arroz art ash aspen
asuncion aurora aurore automne autumn avena avila avond axt azucena azul baars bach baer bajo baker bakker balken bank
banken banks bar barbe barber barbier barca barco bard barker baron barrio barrios basil bass bauer baum bayer bean
beans bear beau becerro beek beer begona beil bein bel bell bella belle belles bello bendito bent berg berge bergen
berger bergere bermejo berry best beste beuk bianca biene bienvenida bienvenido bienvenu bier bill bin binder bird
birdie birke birne bischof bishop bisschop black blanc blanca blanche blanco blank blatt blau blauw blauwe blei blessed
blij bliss block bloed bloem blood blue blum blume blunt blut board boards boatman bob bock boden body boehm boek boer
boeren boeuf bogen bohm bois bok bol bold boll bomen bon bond bone bones bonheur bonita bonne bonnet bons book boom
boot booth boots born borrego bos bosch boucher boulanger bourgeois bourgogne bow bower bowers bowl bowman box
brabander brace branch brand braun bravo bray bread breed breeze breit breton brett brew brewer brewster brick bridge
bridges brief bright broad brochet broer bron brook brooke brooks brot brouwer brown brucke bruder bruecke brug bruggen
bruijn bruin bruine brun brunnen buch buche buck bud buddy buena buenas bueno buenos buis bull bunny burg burn burns
busch bush butler butter butts buurman caballero cabello cabeza cabra cadena cake calle calvo cama camelia camino
caminos camp campana campanas campo campos can canas candela cano cantero cantor cantos capitan capucine cardenal care
carey caridad carnero carol carolina carpintero carrascal carrasco carre carrera carreras carretero carter carver casa
casado casas case cash castillo castillos castle casto catalan cebada celeste celestino cerf cerise cerisier cerro
chance chandler change chapeau chapel chapelle chapman charge charity charpentier charron chase chat chateau chemin
chene chenes cheri cherie cherry cheval chevalier chevreau chew chico chien child childs chin china chip chow christ
christmas church ciego claire clara clark clay clemence clemencia clement clemente clementine clerc clerk cliff clove
clover cocina coffee cojo colombe colt combs come comfort comte concepcion conde constable constance constancia
constant constante consuelo cook cooper coq coral corbeau cordero cordier cordoba cordon corral corrales cortes corto
costa could court courtois cousin couturier coward crane cream crespo cricket crisp croix crook cross crow crowd crown
cruz crystal cuadra cuadrado cuello cuervo cuesta cueva cuevas curry curtain cutter dachs daft dag dahlie daisy dakota
dale dam dammen dance darf darling dash dauw dawn day deacon dean dear debe deen deer dekker dekkers delgado derecho
desire desiree destiny dew dia diamante dice dick did diep diestro dijk dik dikke din distel do doe does doet dokter
dollar dolores dom don dong doors dorn dot doux dove down drain drake dream drew drinkwater driver droog drum dry duc
duif duin duits duke dulce dun dune dunne duque dust dwelling eagle earl early earnest east eck ecker edel edler eg
eglantine eglise ehrlich eiche eik eiken eiland eind einde eisen elder els else ember encarnacion encina encinas ende
engel engels england english ente erb erika erle ermita ernst esche escribano esel esmeralda esperance esperanza espina
espino essig esta estrella etang ete etoile eve even ever ewald faden fair fairweather faith falke fall farm farmer
fass faucon fausto fe fear feather fee feind feld felicite felix feliz fels feo fern fest fett feuer fidele fiel field
fields fijn fils finch fine finger fink fire firm fisch fischer fish fisher flag flagg fleischer fletcher fleur fliege
flint flood flor flora flores flower flowers fluss fly foire fontaine foot force ford forest forester foret fort forth
fortuna fortune foster four fox fraile frances franco frank frau free freed freeman freeze frei freier french frere
fresh freude freund freunde friede frieden friend friese frisch frohe frohlich fromm frosch frost fruhling fry fuchs
fuente fuentes fuerst fuerte fun furst fuss ga gaat gale gallego gallo gamble game gans ganso garcon garden gardener
gardner garland garten garza gast gasten gates gavilan gay geel geiger geist geit gelb geld gele geloof geluk gema gene
generoso genesis gentil gentle german gern gernot gerste get gift ginger give glas glass gloria gluck glucklich glueck
go goed goede gold golden goldsmith gong good goodman gordo goud gozo graaf grace graf granada granado granados grand
grande grandes grands grant grass grau grave gravel graves gray great green greenwood grey grief grijs grijze grim gris
grob groen groene grof groot groote gros groschen gross grosse grosser grote ground grove gruen grun guapo guardia
guerra guerrero guest gulden gut gute guten guter gutes guus guy haan haar haas hab hace hack had hafer hagel hahn hak
halcon hall halm ham hamer hammer hand handen hands hans happy hard hardy hare harm harmony harp hart has hase hatch
haupt haus hauser have haven hawk hay hazel head heard heart heath heather heaven heavenly hebt hecht heer heet heide
heil heim held hell heller hemel hen henne herb herbst herd herder herfst hermano hermosa hermosas hermoso herr herren
herrera herrero herring hert hertog herz herzog hetre heuvel heuvels hidalgo hierro high higuera higueras hijo hill
himmel hirsch hirt hirte hitzig hiver hoch hoek hof hofer hoffnung hold hole holiday holland hollander hollow holly
holz holzer home hond honesty honey honig honor hood hoofd hoog hook hooker hoop hope hopf horn hortense hose house
hout houten hubsch huegel huerta huertas hugel huhn huis huizen hull humble hund hunt hunter hurt hut hyazinthe ice
ideal igel iglesia iglesias ijzer inch india inmaculada innocent inocencio inocente insel invierno ireland iris ivory
ivy izquierdo jaar jacinthe jack jade jaeger jager jagers jardin jasmijn jasmin jasmine jay jazmin jesus jeune jewel
job joli jolly joly jong jonge jour journey joy judge jung junge juniper juno justa juste justice justo kafer kaiser
kalb kalt kamer kamm kamp kampen kan kann kant kappe karpfen kase kasse kasten kat katze kaufmann keen kehl keil keizer
keller kellner kerk kerkhof kern kers kessel kette key keys kiefer kies kiesel kind kinder kinderen king kirche kirsch
kist kit kitchen kitty klee kleermaker klein kleine kling klinge klooster klop kloster klug kluge knapp knecht knight
knoop knopf koch koe koel koenig kohl kok koks kolen kom komt konig konijn koning konto kool kop koper kopf korb korf
korn kort korte kost koster koud kraai kraehe krahe kranz kraut krebs kredit kreis kreuz krieg krom kron krone kroon
krug kruis kruit krumm kuh kuiper kuipers kunt kupfer kurz kust laag laan laat lac lago lagos laguna lake lallemand lam
lamb lamm lance land lane lang lange langen large largo largos lark last late laub lauf laurel lauter lavender law
lawless lawn lay lazaro leaf leak leblanc lebrun leche leclerc leder lee leeg leek leeuw leger legrand legros lehrer
leicht leinen lenoir lente leon lepel lepetit leraar lerche let leveque libertad liberty licht lieb liebe lieber lied
liefde lieve lievre light lightfoot lilie lily linda linde linden lindo line link lion lirio little llave llaves lobo
loch lock locke lodge loewe lof lohn long looney loose lorbeer lord los lotus loup love lovejoy lovelace loveless low
lucero luck lucky luft luna lune lung lustig luz maan maand maat mace madelief madrid maestre maestro mag magd magnolia
main mais maison maitre major make male maler man mand mandel mann manners mans manteau mantel manzana manzanares
manzano marchand marche marechal margarita marguerite marina marine marinero marino mark marks markt marrow marsh
marshall mask mason mast mata matas mate matin mauer maurer maus maverick max maximo mayor mayoral meadow meadows means
mediano meer mees meester mehl mehr meijer mejor melody menor mer mercedes mercer mercier mercy merel meren merino
merit merle merry mes mesa messer metselaar metzger meunier middle miel milagros miles milk millas miller mills mint
mira mist misty mitten modesto moench moet mohr moine moineau mol molen molenaar molina molinero molino mond money
monje monk monnik mont montagne montana monte montes mooi mooie moon moor moore moos mora moral more moreno morgen moss
most motz moulin mount mountain mouse mouton mozo mucke mudo muis mulder mund mus music muss must mutter myrtle nacht
nadel nagel nail nap naranjo nase nat natal nation natividad neat nebel neck needle neef negro neighbor nelke neu neue
neuer neus neveu new newman nice nick nieto nieuwe nieves night nightingale nino noble noche noir noon noord noot norm
norman normand north notario nouveau nouvelle nova novo noyer nuevas nuevo nuevos nuss oak oaks oats obispo oceane ochs
ochse odd ohr oliva olivares olive olivo olivos olmo olmos ondine oom oort oost opal opale orange orchard orilla orme
oro ort os ost oster otono oud oude over owl paar paard paciencia pack paddock padre page paige pain painter palacio
palacios palm palma palmas palmer paloma palomo pan panadero papier papst paques pardo parejo parel parfait parfaite
paris parish park parker parks parra parrot part partridge party pascua pascual paso pastor pat patch patience patient
pato patrocinio patron paus paz peace peach peacock pearl pease peer peg pelz pen pena penas penn penny peony pepper
pequeno pera peral perch pere perla perle perpetua person pervenche petal petit petite petits pfau pfeffer pfeifer
pfeil pfennig pferd phoenix pickle piedad piedra pien pierce pierre pierres pigeon pike pilar pimienta pinar pink pino
pinos pinto pip pipe piper place placido plant plas plata platz play plaza pleasant ploeg plum plumb plumber pobre
poirier poisson pol polder pole pommier pond pong pont poor poort pope poppy porte porter portugues post pot potter
poule pound powers pozo pozos pracht pradera prado prados prairie pre precious press pretty price pride priest prieto
prik primavera primo prince princess prins printemps prinz prior probst proctor promise proud prudence prudencia pruim
prune prunier puck pueblo puede puente puentes puerta puertas puerto puits pump punt purchase purificacion purse push
put quast queen queso quick quiere quiet quinto raad raaf rabe rad rahm rain rains ram rama ramo ramos ranger rasch
rash rat ratte rau rauch raven ravens ray read reader ready real reason rebel recht record rector redondo reed reef
reel regel regen reich rein reina reis reiter remedios renard rest rey reyes ribera rice rich riches richter rico
ridder ridge ried rijk rincon ring rio rios ritter ritz river rivers riviere rizo road roads rob robin roble robles
roca rocas roche rocher rocio rock rod rode roer roggen rohr roi rojas rojo romano romero rond rood rook roos root rope
rosa rosal rosario rose rosemary rosen rost rot rote round roux rowan roy royal roze rozen rube ruben rubin rubio rubis
ruby rue rueda ruf ruh ruhe ruhig ruis ruiter rule rush rust rusty ryder sable sachse sack sacristan saffron sage
sagrario said sail saint sal sala salinas salmon salt salter salud salvador salvia salz sand sander sands sandy sanger
santa santo santos sargento sastre satt sauer saule saumon savage savannah sawyer say scarlet schaap schaden schaf
schatz scheer schell schenk schere schick schiff schild schilder schilders schilling schimmel schip schipper schippers
schlag schlau schlicht schloss schmalz schmied schnee schnell schoen schon schone schoner schoon schopf schot schout
schouten schrank schrei schreiber schreiner schrijver schuh schumacher schuster schutz schutze schwach schwan schwarz
schwarze schweizer schwert schwester seal seat seco see seen segovia segura seide seitz self sell sellers serenity
sergeant service sessions severo sevilla shade shadow sharp sharpe sheets shell shepherd sheriff sherry shine ship
shipman shoemaker shore short shot should show shower sick sickles sieg siegel sienna sierra silber silk silla silver
simple sing singer singleton sink skill skinner skip sky skye skylar slack slag slager slate slot sluis smal small
smart sneeuw snel snijder snijders snoek snow sobrino socorro soir sol soldado soldier soledad soleil soll soltero
sommer song sonne sordo sorge soria souris south spaan sparks sparrow spath spatz spear specht speck speed spells
sperber sperling spielmann spiess spijker spinne spoon spreeuw spring sprout squire staal stab staff stage stahl stam
stamm stamp star stark starke start steck steed steel steen steep steg steil stein steine stellmacher stem stenen step
ster sterk sterke sterling stern sterre steuer steuern steward stick stiefel stiel stier stiff stil still stille stock
stoel stok stokken stolz stolze stone stones stoop storch storm stormy story stout straat strand strange strauch
strauss straw street streit string strom strong stumpf stunde sturm sturz style sue sugar summer summers sung sunny
sunshine suss swan sweat sweet swift swords tafel tag tailleur tak take tall tam tan tand tank tanne tanner tanz tarde
tas taube taureau taylor tea teich tejada tejedor tejero temperance temple teufel thaler thatcher thick thorn thorne
tide tiene tiger tijger till tiller timmerman timmermans tinker tio tischler tol toledo toll tomb tomillo ton topfer
tor toren tornero toro torre torres tour town towns train traub traum travel treasure treat tree treu trick trigo
trinidad trinity trip triste trom trommler trost trout true trump trunk trust tuch tuin turm turner twist uhr unity
upright vaca vache vader val vale valentine valero valiente valk valle vallee valles valor van vaquero varas varon vast
vat vater veen vega veilchen velas veld velden ven ventura verano verde verdugo verger verity vest vicario victoire
victoria victory viejo viel vieux vigil vigne villa villas vina vinas vine vink vino viola violet violeta violette
virginia virtudes vis visitacion visser viudo vivid vlam vlaming vlas vlieg vliet vlinder vlug voet vogel vogels vol
volk voll vorn vos vrede vreugde vriend vrienden vrij vroeg vrolijk vrouw vuur waard wachs wachter wade waffen wage
wagen wagenaar wager wahl wahn wainwright wake wal wald wales walk walker wall walls wand wanner ward warden ware warm
was wash washington watch water waters way weakly wealth weather weaver weed week weeks weert weg wei weich weide
weihnacht wein weise weiss weisse weizen welcome well welsh welt wende wenig were werf werker wert west wever wevers
wheat wheel wheeler whistler white wiel wiese wijk wijn wijs wil wild wilder wilds wilg will willow wilt wind winds
wine wing wings winkel winner winsome winter winters wirt wise wiseman wit witte witz wohl wolf wolk wolle wood woods
wool word wordt worth woud would wren wrench wunder wunsch wurst yard yeast yellow young younger zaal zacht zafiro zahn
zak zal zand zapatero zarza zee zeil zeis zeisig zeit zephyr zest ziege ziel zilver zimmer zinn zomer zon zonne zorn
zorro zucker zuid zuster zwaan zwaard zwart zwarte zweig
""".split()  # noqa: SIM905  # as a list it would be forty pages of quotes
)
