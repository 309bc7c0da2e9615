"""Word lists for persons: titles, nouns with their gender, and verbs of saying and feeling."""

from __future__ import annotations

_HIS = (
    "mr mister sir lord master uncle king prince duke count baron don monsieur herr father brother fra "
    "dom senor señor signor rabbi earl viscount sheikh sultan emperor pope"
)
_HER = (
    "mrs miss ms lady madam madame mademoiselle aunt queen princess duchess countess sister mother mme "
    "mlle dame baroness empress señora senora signora señorita signorina grandmother granny nurse nanny"
)
_EITHER = (
    "dr doctor captain colonel major general lieutenant sergeant professor judge justice rev reverend "
    "bishop cousin saint st squire inspector admiral commander president governor senator chancellor sgt "
    "capt lt col gen maj prof hon sen gov rep pres insp detective constable officer corporal chief coach "
    "secretary ambassador chairman minister chaplain pastor deacon cardinal archbishop marshal sheriff "
    "agent commissioner"
)
TITLES = {word: gender for words, gender in ((_HIS, "m"), (_HER, "f"), (_EITHER, "")) for word in words.split()}
"""Gender of each title: ``m``, ``f`` or empty."""
MEN = frozenset(
    "abbot bachelor baron bishop bloke boy boyfriend bridegroom brother brother-in-law businessman butler captain "
    "chairman chap clergyman coachman count countryman cowboy craftsman dad daddy dude duke earl emperor father "
    "father-in-law fellow fireman fisherman footman friar gentleman godfather godson granddad grandfather grandpa "
    "grandson groom guy heir hero huntsman husband king knight lad landlord lord man master milkman monk monsignor "
    "nephew nobleman papa parson policeman pope postman priest prince sahib sailor salesman schoolboy seaman sir "
    "soldier son son-in-law spokesman sportsman squire statesman stepbrother stepfather stepson sultan uncle waiter "
    "warlock watchman widower wizard workman".split()
)
WOMEN = frozenset(
    "abbess actress aunt ayah ballerina bride businesswoman chairwoman countess dame damsel daughter daughter-in- "
    "law duchess empress girl girlfriend goddaughter godmother governess granddaughter grandma grandmamma "
    "grandmother granny heiress heroine hostess housekeeper lady landlady lass lassie ma'am madam maid maiden mama "
    "mamma mistress mom mother mother-in-law mum niece nun nurse priestess princess queen schoolgirl seamstress "
    "sister sister-in-law spinster spokeswoman stepdaughter stepmother stepsister stewardess waitress widow wife "
    "witch woman".split()
)
EITHER = frozenset(
    "academic accomplice accountant acquaintance acrobat activist actor admiral adult adventurer agent ally amateur "
    "ambassador analyst ancestor anybody anyone apostle applicant apprentice archer architect aristocrat artist "
    "assistant astronaut athlete attacker attendant attorney auctioneer author baby bachelorette bailiff baker "
    "banker barber baronet barrister bartender batsman beadle beggar beginner believer biologist blacksmith blogger "
    "boarder boss bowler boxer brat brewer bricklayer broadcaster builder burglar butcher buyer bystander "
    "campaigner candidate carpenter champion chancellor chaplain chauffeur cheat chef chemist chief child citizen "
    "cleaner cleric clerk client climber clown coach cobbler colleague colonel columnist comedian commander "
    "companion composer comrade confidant congressman conjurer constable consumer cook cop corporal correspondent "
    "councillor councilor cousin coward cowhand coworker creature criminal critic curate customer dancer darling "
    "deacon dealer dean dear defendant dentist deputy descendant designer detective dictator diplomat director "
    "disciple doctor doorkeeper driver drover drummer drunkard economist editor electrician employee employer enemy "
    "engineer entrepreneur errand-boy everybody everyone executive expert explorer farmer farmhand ferryman fiance "
    "fiancé fiancée fiddler fighter filmmaker fishmonger foe fool footballer foreigner fortune-teller founder "
    "foundling friend gambler gardener gatekeeper general genius goalkeeper goldsmith governor grandchild "
    "grandparent gravedigger grocer guard guerrilla guest guide guitarist gunman gunner hairdresser headteacher "
    "herald herdsman heretic hermit hiker historian host hostage human hunter idiot imam immigrant imp individual "
    "infant inhabitant inmate innkeeper inspector instructor interlocutor intern investor jailer janitor jester "
    "jeweller jockey joiner journalist judge juggler juror kid killer knave laborer labourer lawyer leader lecturer "
    "liar librarian lieutenant listener lodger loser lover lunatic madman magician magistrate major manager mariner "
    "marquis mason mayor mechanic member merchant messenger midwife miller minister missionary monarch mortal "
    "murderer musician namesake narrator native neighbor neighbour new-comer newcomer newlywed noble nobody nominee "
    "notary novelist officer official offspring onlooker opponent orphan owner painter paramedic parent partner "
    "passenger pastor patient peasant peddler pedlar performer person pharmacist philosopher photographer physician "
    "physicist pianist pilgrim pilot pioneer piper pirate pitcher plaintiff player playwright plumber poet "
    "politician porter potter preacher predecessor premier president principal prisoner producer professional "
    "professor prophet prosecutor protagonist protester psychologist publican pupil quarterback rabbi rancher "
    "rascal reader rebel recipient rector refugee relation relative reporter researcher resident rider rifleman "
    "rival robber rogue ruler runner saint saloon-keeper savage scholar scientist scoundrel sculptor secretary "
    "seller senator sergeant servant settler sexton shepherd sheriff shoemaker shopkeeper shopper sibling singer "
    "skipper slave smuggler sniper solicitor somebody someone sorcerer soul speaker spectator spinner spokesperson "
    "spouse spy stable-boy steward storekeeper stranger striker student subscriber successor supervisor surgeon "
    "survivor suspect sweetheart swimmer tailor tanner teacher teen teenager tenant terrorist therapist thief "
    "toddler tourist trainee trainer traitor tramp traveler traveller trooper tutor twin undertaker urchin user "
    "usher vagabond valet vendor vet veteran veterinarian vicar victim viewer villager villain violinist viscount "
    "visitor volunteer voter waif wanderer ward warden warrior weaver winner witness worker wrestler wretch writer "
    "youth".split()
)
PLURALS = frozenset(
    "adults aunts babies boys brothers children clergy companions couple cousins daughters family fellows folk "
    "folks friends gentlemen gentry girls grandchildren grandparents guests husbands kids ladies lads lovers men "
    "neighbors neighbours nobility officers parents passengers people persons police pupils relations sailors "
    "servants siblings sisters soldiers sons strangers students teenagers twins uncles visitors wives women youths".split()
)
SAYING = frozenset(
    "acknowledge add admit advise agree announce answer argue ask assert assure bark beg begin call chuckle claim "
    "command complain conclude confess confirm continue counter cry declare demand drawl enquire exclaim explain "
    "gasp greet groan growl grumble hiss inquire insist interrupt mumble murmur muse mutter observe promise protest "
    "pursue recall reflect rejoin remark repeat reply respond retort return say scream shout snap sneer sob stammer "
    "state stress suggest think urge warn whisper wonder yell".split()
)
SAID = frozenset(
    [f"{w}{s}" for w in SAYING for s in ("", "s", "ed", "d")]
    + "said says cried replied began thought told begged admitted offered sighed laughed sobbed put".split()
)


THOU = frozenset(["thou", "thee", "thy", "thine", "thyself", "ye"])
ADDRESS = frozenset(
    "sir madam ma'am ma’am papa mamma mama mother father uncle aunt doctor captain dear darling boy lad child sister "
    "brother master miss friend son daughter grandmother grandfather mum dad mom colonel professor".split()
)
FEELING = frozenset(
    "thought thinks knew knows felt feels looked looks smiled smiles nodded laughed laughs sighed wondered believed "
    "wished wanted wants hoped heard saw turned stood sat walked came went rose bowed blushed frowned remembered "
    "forgot loved hated married died spoke listened waited stared glanced shrugged grinned told tells".split()
)
HEADINGS = frozenset("chapter book part volume act scene adventure canto letter preface introduction section".split())
PLACES = frozenset(
    "street road lane square park hall house castle abbey court hotel inn river mountain mountains bridge island valley "
    "county city town university college school church cathedral station inc ltd co corp company".split()
)
NO_NAMES = frozenset(
    "the a an and but or if when then that this these those it he she they we you his her their our your my its in on "
    "at to from for of by as so yes no not there here what who why how where which oh ah well good god lord heaven "
    "christmas easter michaelmas monday tuesday wednesday thursday friday saturday sunday january february march april "
    "june july august september october november december english french german irish scotch american".split()
)


def gender_of(noun: str) -> str | None:
    """Gender of a noun for a person, ``m``, ``f`` or ``""`` (plurals too); None for any other noun.

    >>> gender_of("widow"), gender_of("stranger"), gender_of("table")
    ('f', '', None)
    """
    if noun in MEN or (noun.endswith("man") and noun[:-3] in ("gentle", "clergy", "police", "noble", "work", "sea")):
        return "m"
    if noun in WOMEN or noun.endswith("woman"):
        return "f"
    plural = noun.endswith("s") and noun[:-1] in MEN | WOMEN | EITHER
    return "" if plural or noun in EITHER or noun in PLURALS or noun.endswith("women") else None
