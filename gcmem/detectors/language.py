"""Whether a text is English: by its script, and by the small words of other languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

__all__ = ["looks_english"]

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_CODE = re.compile(r"`[^`]*`|\bhttps?://\S+|\S*[_/\\=@]\S*")
_BORROWED = frozenset(
    "café cafés naïve naïvely résumé résumés fiancé fiancée fiancés fiancées cliché clichés façade jalapeño jalapeños"
    " crème brûlée déjà vu décor entrée piñata soufflé sauté sautéed purée à señor señora über née"
    " exposé protégé matinée risqué passé smörgåsbord doppelgänger crêpe crêpes pâté rosé".split()
)

_FOREIGN = {
    "German": "der das ein eine einen einem einer und ist sind nicht ich du er wir ihr mich mir dich"
    " dir ihm ihn mit für auf von zu zum zur bei aus nach über unter auch noch schon seit wird wurde"
    " werden hat habe haben hatte mein meine dein deine sein seine unser unsere ihre aber oder wenn"
    " weil dass jetzt heute immer mehr kein keine wohnt wohne arbeitet arbeite heißt heisst mag"
    " trinkt trinke isst esse fährt läuft spricht gern gerne lieber nutzt nutzen verwendet kann"
    " muss will möchte ab bis um",
    "French": "le la les un une des du de et est sont ne pas je tu il elle nous vous ils elles mon ma"
    " mes ton ta tes son sa ses notre votre leur leurs avec pour dans sur sous chez par que qui mais"
    " ou où donc aussi très plus maintenant aujourd'hui toujours c'est j'ai j'aime habite travaille"
    " vit mange boit utilise préfère était être avoir au aux ce cette ces s'appelle depuis dès",
    "Spanish": "el los las un una unos unas y es son está están no yo él ella nosotros mi mis tu sus"
    " su con para en por que quien pero o muy más ahora hoy siempre del al se le lo me te vive vivo"
    " trabaja trabajo come bebe usa prefiere gusta gustan tiene tengo era ser estar desde hasta"
    " llama este esta ese como cuando también ya",
    "Italian": "abito abiti lavoro cambiato il lo gli un una uno e è sono non io tu lui lei noi mio mia miei tuo suo sua con per"
    " di del della dei delle nel nella al alla che chi ma molto più adesso ora oggi sempre vive"
    " abita lavora mangia beve usa preferisce piace piacciono ha ho era essere da dal dalla si anche"
    " questo questa",
    "Portuguese": "o os um uma uns umas e é são não eu ele ela nós meu minha seu sua com para em por"
    " que quem mas ou muito mais agora hoje sempre do da dos das no na nos nas ao à mora trabalha"
    " come bebe usa prefere gosta tem tenho era ser estar desde até este esta isso também já",
    "Dutch": "de het een en is zijn niet ik jij hij zij wij mijn jouw haar ons onze met voor op van"
    " naar bij uit over ook nog al sinds wordt werd worden heeft heb hebben maar als omdat dat nu"
    " vandaag altijd meer geen woont woon werkt werk heet houdt drinkt eet rijdt spreekt graag"
    " liever gebruikt kan moet wil",
    "Swedish": "en ett och är inte jag du hon vi min mitt mina din hans hennes vår med för på av till"
    " från hos om också nu idag alltid mer ingen bor jobbar arbetar heter gillar dricker äter kör"
    " använder har hade var som men eller att det den",
    "Norwegian": "en et og er ikke jeg du han hun vi min mitt mine din hans hennes vår med for på av"
    " til fra hos om også nå nu i dag alltid mere mer ingen bor jobber arbejder arbeider heter hedder"
    " liker drikker spiser kører kjører bruker bruger har havde hadde var som men eller at det den",
    "Finnish": "ja on ei ole minä sinä hän me te minun sinun hänen meidän kanssa mutta tai että nyt"
    " tänään aina enemmän asuu asun työskentelee nimi pitää juo syö ajaa käyttää oli olla joka myös"
    " kuin",
    "Polish": "i jest są nie ja ty on ona my mój moja moje twój jego jej nasz z ze dla na od do przy"
    " o też teraz dziś zawsze więcej mieszka pracuje nazywa lubi pije je jeździ używa ma mam był"
    " była być który ale lub że to się w we",
    "Czech": "a je jsou není já ty on ona my můj moje tvůj jeho její náš s se pro na od do u o také"
    " teď dnes vždy více bydlí pracuje jmenuje má mám pije jí jezdí používá byl byla být který ale"
    " nebo že to v ve",
    "Hungarian": "az egy és van vannak nem én te ő mi az enyém az ő velem neki hogy vagy de most ma"
    " mindig több lakik dolgozik hívják szereti iszik eszik használ volt lenni aki is már még",
    "Romanian": "și este sunt nu eu tu el ea noi meu mea mele tău lui ei nostru cu pentru pe la din"
    " de în dar sau că acum azi mereu mai locuiește lucrează numește bea mănâncă folosește are am"
    " era fi care",
    "Turkish": "ve bir bu şu o ben sen biz siz değil var yok için ile ama veya çok daha şimdi bugün"
    " her zaman oturuyor yaşıyor çalışıyor seviyor içiyor yiyor kullanıyor oldu olan ki de da mi"
    " benim senin onun bizim artık",
    "Indonesian": "dan adalah tidak saya kamu dia kami kita mereka dengan untuk di ke dari yang itu"
    " ini sekarang hari selalu lebih tinggal bekerja suka minum makan memakai menggunakan sudah"
    " belum akan pada atau tapi",
    "Vietnamese": "và là không tôi bạn anh chị của với cho ở từ đến này đó bây giờ hôm nay luôn hơn"
    " sống làm việc thích uống ăn dùng đã sẽ nhưng hoặc",
    "Croatian": "i je su nije ja ti on ona mi moj moja tvoj njegov njezin naš sa za na od do kod o"
    " također sada danas uvijek više živi radi zove voli pije jede vozi koristi ima imam bio bila"
    " biti koji ali ili da se u",
}
_ALSO_ENGLISH = frozenset(
    "a i is in on no so me we he at an as am do to or be by of if it the and was will hat die war"
    " man son sin pan come rose this that her us mine main not all also over under over per pro via"
    " use per more real red art want rest brief note dates ton mes tu per sans are is or son dine"
    " fine mere for from to at had he it din den hos men var fart slut barn gift bog te mi la el le"
    " tense tot do de ja on an en al so at is moi ma pa od om pro for ale ten jest my to by we ty on"
    " dated minor bin hut rat rate rot tag wer am hier art bald bad gut elf nun an um es da do mag"
    " kind note war wand was wild will wind worn wort case di pin via si sole ho sole care vital per"
    " ma mai mare nave pace pure sale salute solo tale tutti due fa fare grande cane sauce tan ore"
    " han hun hans mine no am era are ax par main of of bar bras bureau car chat coin ding double"
    " dent dos fin four fort lit mot net on or pain pays pie plus point pour sale sort table tape"
    " tour us van vent zone usa uses used we is al ons mere eat ate ei ki at has as her test o e y"
    " ai ml ok pm ab hat one ones com web bor ke lo un das des del les los las una un der von van das"
    " te tes ser ses set sets sat sur sous sa ta un ne ce ces au es est ti su sus sun ya yo lei lui"
    " noi chi che con non dan sen sage siz ben bu bir mine dina most till".split()
)
_SHARED = frozenset(
    "in is on an so am was die a as do no he me at man son or war hat use per e o i".split()
)
"""Words of English and of other languages: they tell nothing."""
_WEAK = frozenset("la le el de en der das von van del los las les un una di mi te ja".split())
"""Words of other languages that stand in English texts too, in names and titles: they count only
beside others."""


def _small_words() -> frozenset[str]:
    words = {word for line in _FOREIGN.values() for word in line.split()}
    return frozenset(words - _ALSO_ENGLISH)


_SMALL_WORDS = _small_words()


@lru_cache(maxsize=65_536)
def _is_latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith(("LATIN", "FULLWIDTH LATIN", "MICRO"))


def looks_english(text: str, is_known_word: Callable[[str], bool]) -> bool:
    """Whether the text can be read as English.

    Names do not count, and a text without words of any language (a line of configuration, a number)
    passes.

    Args:
        text: The text.
        is_known_word: Whether a lower-case word is in the vocabulary of the (English) model.
    """
    letters = [letter for letter in text if letter.isalpha()]
    if letters:
        other = sum(1 for letter in letters if not letter.isascii() and not _is_latin(letter))
        if other > 0.4 * len(letters):
            return False
    foreign = english = weak = 0
    for match in _WORD.finditer(_CODE.sub(" ", text)):
        word = match.group().replace("’", "'")
        lower = word.lower()
        if len(lower) == 1:
            continue
        if lower in _SMALL_WORDS and (len(lower) > 3 or not lower.isascii()):
            foreign += 1
        elif lower in _SMALL_WORDS or lower in _WEAK:
            weak += 1
        elif word[0].isupper():
            continue
        elif not lower.isascii():
            foreign += lower not in _BORROWED
        elif lower not in _SHARED and is_known_word(lower.split("'")[0]):
            english += 1
    return not (foreign and foreign + weak > english) and not (weak >= 2 and english == 0)
