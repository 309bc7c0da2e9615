"""Word lists for persons: titles, nouns with their gender, and verbs of saying and feeling."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HIS = _words(
    """
    baron brother count dom don duke earl emperor father fra herr king lord master mister monsieur mr pope prince
    rabbi senor señor sheikh signor sir sultan uncle viscount
    """
)
_HER = _words(
    """
    aunt baroness countess dame duchess empress grandmother granny lady madam madame mademoiselle miss mlle mme mother
    mrs ms nanny nurse princess queen senora señora señorita signora signorina sister
    """
)
_EITHER = _words(
    """
    admiral agent ambassador archbishop bishop capt captain cardinal chairman chancellor chaplain chief coach col
    colonel commander commissioner constable corporal cousin deacon detective doctor dr gen general gov governor hon
    insp inspector judge justice lieutenant lt maj major marshal minister officer pastor pres president prof professor
    rep rev reverend saint secretary sen senator sergeant sgt sheriff squire st
    """
)
TITLES = {**dict.fromkeys(_HIS, "m"), **dict.fromkeys(_HER, "f"), **dict.fromkeys(_EITHER, "")}
"""Gender of each title: ``m``, ``f`` or empty."""
MEN = _words(
    """
    abbot bachelor baron bishop bloke boy boyfriend bridegroom brother brother-in-law businessman butler captain
    chairman chap clergyman coachman count countryman cowboy craftsman dad daddy dude duke earl emperor father
    father-in-law fellow fireman fisherman footman friar gentleman godfather godson granddad grandfather grandpa
    grandson groom guy heir hero huntsman husband king knight lad landlord lord man master milkman monk monsignor
    nephew nobleman papa parson policeman pope postman priest prince sahib sailor salesman schoolboy seaman sir
    soldier son son-in-law spokesman sportsman squire statesman stepbrother stepfather stepson sultan uncle waiter
    warlock watchman widower wizard workman
    """
)
"""Nouns for men."""
WOMEN = _words(
    """
    abbess actress aunt ayah ballerina bride businesswoman chairwoman countess dame damsel daughter daughter-in-law
    duchess empress girl girlfriend goddaughter godmother governess granddaughter grandma grandmamma grandmother
    granny heiress heroine hostess housekeeper lady landlady lass lassie ma'am madam maid maiden mama mamma mistress
    mom mother mother-in-law mum niece nun nurse priestess princess queen schoolgirl seamstress sister sister-in-law
    spinster spokeswoman stepdaughter stepmother stepsister stewardess waitress widow wife witch woman
    """
)
"""Nouns for women."""
EITHER = _words(
    """
    academic accomplice accountant acquaintance acrobat activist actor admiral adult adventurer agent ally amateur
    ambassador analyst ancestor anybody anyone apostle applicant apprentice archer architect aristocrat artist
    assistant astronaut athlete attacker attendant attorney auctioneer author baby bachelorette bailiff baker banker
    barber baronet barrister bartender batsman beadle beggar beginner believer biologist blacksmith blogger boarder
    boss bowler boxer brat brewer bricklayer broadcaster builder burglar butcher buyer bystander campaigner candidate
    carpenter champion chancellor chaplain chauffeur cheat chef chemist chief child citizen cleaner cleric clerk
    client climber clown coach cobbler colleague colonel columnist comedian commander companion composer comrade
    confidant congressman conjurer constable consumer cook cop corporal correspondent councillor councilor cousin
    coward cowhand coworker creature criminal critic curate customer dancer darling deacon dealer dean dear defendant
    dentist deputy descendant designer detective dictator diplomat director disciple doctor doorkeeper driver drover
    drummer drunkard economist editor electrician employee employer enemy engineer entrepreneur errand-boy everybody
    everyone executive expert explorer farmer farmhand ferryman fiance fiancé fiancée fiddler fighter filmmaker
    fishmonger foe fool footballer foreigner fortune-teller founder foundling friend gambler gardener gatekeeper
    general genius goalkeeper goldsmith governor grandchild grandparent gravedigger grocer guard guerrilla guest guide
    guitarist gunman gunner hairdresser headteacher herald herdsman heretic hermit hiker historian host hostage human
    hunter idiot imam immigrant imp individual infant inhabitant inmate innkeeper inspector instructor interlocutor
    intern investor jailer janitor jester jeweller jockey joiner journalist judge juggler juror kid killer knave
    laborer labourer lawyer leader lecturer liar librarian lieutenant listener lodger loser lover lunatic madman
    magician magistrate major manager mariner marquis mason mayor mechanic member merchant messenger midwife miller
    minister missionary monarch mortal murderer musician namesake narrator native neighbor neighbour new-comer
    newcomer newlywed noble nobody nominee notary novelist officer official offspring onlooker opponent orphan owner
    painter paramedic parent partner passenger pastor patient peasant peddler pedlar performer person pharmacist
    philosopher photographer physician physicist pianist pilgrim pilot pioneer piper pirate pitcher plaintiff player
    playwright plumber poet politician porter potter preacher predecessor premier president principal prisoner
    producer professional professor prophet prosecutor protagonist protester psychologist publican pupil quarterback
    rabbi rancher rascal reader rebel recipient rector refugee relation relative reporter researcher resident rider
    rifleman rival robber rogue ruler runner saint saloon-keeper savage scholar scientist scoundrel sculptor secretary
    seller senator sergeant servant settler sexton shepherd sheriff shoemaker shopkeeper shopper sibling singer
    skipper slave smuggler sniper solicitor somebody someone sorcerer soul speaker spectator spinner spokesperson
    spouse spy stable-boy steward storekeeper stranger striker student subscriber successor supervisor surgeon
    survivor suspect sweetheart swimmer tailor tanner teacher teen teenager tenant terrorist therapist thief toddler
    tourist trainee trainer traitor tramp traveler traveller trooper tutor twin undertaker urchin user usher vagabond
    valet vendor vet veteran veterinarian vicar victim viewer villager villain violinist viscount visitor volunteer
    voter waif wanderer ward warden warrior weaver winner witness worker wrestler wretch writer youth
    """
)
"""Nouns for persons of either gender."""
PLURALS = _words(
    """
    adults aunts babies boys brothers children clergy companions couple cousins daughters family fellows folk folks
    friends gentlemen gentry girls grandchildren grandparents guests husbands kids ladies lads lovers men neighbors
    neighbours nobility officers parents passengers people persons police pupils relations sailors servants siblings
    sisters soldiers sons strangers students teenagers twins uncles visitors wives women youths
    """
)
"""Plural nouns, besides regular plurals of the lists above."""
SAYING = _words(
    """
    acknowledge add admit advise agree announce answer argue ask assert assure bark beg begin call chuckle claim
    command complain conclude confess confirm continue counter cry declare demand drawl enquire exclaim explain gasp
    greet groan growl grumble hiss inquire insist interrupt mumble murmur muse mutter observe promise protest pursue
    recall reflect rejoin remark repeat reply respond retort return say scream shout snap sneer sob stammer state
    stress suggest think urge warn whisper wonder yell
    """
)
"""Verbs of saying."""
SAID = frozenset(f"{w}{s}" for w in SAYING for s in ("", "s", "ed", "d")) | _words(
    "said says cried replied began thought told begged admitted offered sighed laughed sobbed put"
)
"""Their forms."""
FEELING = _words(
    """
    believed blushed bowed came died feels felt forgot frowned glanced grinned hated heard hoped knew knows laughed
    laughs listened looked looks loved married nodded remembered rose sat saw shrugged sighed smiled smiles spoke
    stared stood tells thinks thought told turned waited walked wanted wants went wished wondered
    """
)
"""Forms of verbs that have persons as subjects."""
THOU = _words(
    """
    thee thine thou thy thyself ye
    """
)
"""Old pronouns of the second person."""
ADDRESS = _words(
    """
    aunt boy brother captain child colonel dad darling daughter dear doctor father friend grandfather grandmother lad
    ma'am madam mama mamma master ma’am miss mom mother mum papa professor sir sister son uncle
    """
)
"""Nouns that address somebody."""
HEADINGS = _words(
    """
    act adventure book canto chapter introduction letter part preface scene section volume
    """
)
"""Words of headings."""
PLACES = _words(
    """
    abbey bridge castle cathedral church city co college company corp county court hall hotel house inc inn island
    lane ltd mountain mountains park river road school square station street town university valley
    """
)
"""Words that make the name before them one of a place or an organisation."""
NO_NAMES = _words(
    """
    a ah american an and april as at august but by christmas december easter english february for french friday from
    german god good he heaven her here his how if in irish it its january july june lord march michaelmas monday my no
    not november october of oh on or our saturday scotch september she so sunday that the their then there these they
    this those thursday to tuesday we wednesday well what when where which who why yes you your
    """
)
"""Capitalised words that are no part of a name."""
_GENDER = {
    **dict.fromkeys(PLURALS, ""),
    **dict.fromkeys(EITHER, ""),
    **dict.fromkeys(WOMEN, "f"),
    **dict.fromkeys(MEN, "m"),
}


def gender_of(noun: str) -> str | None:
    """Gender of a noun for a person, ``m``, ``f`` or ``""`` (plurals too); None for any other noun.

    >>> gender_of("widow"), gender_of("stranger"), gender_of("table")
    ('f', '', None)
    """
    if noun in _GENDER:
        return _GENDER[noun]
    if noun.endswith("man") and noun[:-3] in ("gentle", "clergy", "police", "noble", "work", "sea"):
        return "m"
    if noun.endswith("woman"):
        return "f"
    return "" if noun.endswith("women") or (noun.endswith("s") and noun[:-1] in _GENDER) else None
