"""Labelled texts that are made up: layouts and sentences for the tagger to learn from, with names from the gazetteer's lists.

In the templates (scripts/names/templates.txt) names stand in square brackets and are what is to be found; what stands in braces is not:
[P] a whole name, [F] a first and [L] a last one, [LF] "Last, First", [IL] "J. Last", [PU] [LU] in capitals, [pl] in small letters,
{m} the mail address, {u} the user name of the person named last. A digit makes it the same person again: [P1] ... [F1].
"""
import os, random, re

HERE = os.path.dirname(os.path.abspath(__file__))


class People:
    def __init__(self, lists, rng):
        self.rng, self.first, self.last, self.places = rng, [], [], []
        for line in open(lists, encoding="utf-8"):
            kind, _, name, classes = line.rstrip("\n").split("\t")
            name = name.strip()
            if kind == "first" and name[:1].isupper() and len(name) > 1:
                self.first.append(name)
            elif kind == "last" and name[:1].isupper() and len(name) > 1:
                self.last.append(name)
            elif kind == "city" and name.isascii():
                self.places.append(name)

    def pick(self, names, skew=2.5):
        if self.rng.random() < 0.3:
            return names[int(len(names) * (0.7 + 0.3 * self.rng.random())) - 1] if names is self.last else self.rng.choice(names[4000:])
        return names[int(len(names) * self.rng.random() ** skew)]

    def garble(self, name):
        """A name that is on no list."""
        r = self.rng
        if r.random() > 0.12 or len(name) < 5:
            return name
        i = r.randrange(1, len(name) - 1)
        return name[:i] + r.choice("aeiourlnst") + name[i + r.choice((0, 1)):]

    def person(self):
        r = self.rng
        first = self.garble(self.pick(self.first, 2))
        last = self.garble(self.pick(self.last))
        x = r.random()
        if x < 0.05:
            last = last + "-" + self.pick(self.last)
        elif x < 0.08:
            last = r.choice(["van", "de", "von", "van der", "de la", "del", "di", "da", "al-", "bin", "ten", "dos", "le"]) + " " + last
            last = last.replace("- ", "-")
        elif x < 0.10:
            last = r.choice(["O'", "D'", "Mc", "Mac", "De", "Van ", "St. ", "El "]) + last
        elif x < 0.12:
            last = last + " " + self.pick(self.last)
        if r.random() < 0.03:
            first = first + "-" + self.pick(self.first)
        elif r.random() < 0.03:
            first = first + " " + self.pick(self.first)
        return first, last


ORG_TAILS = """Inc|Inc.|Ltd|LLC|GmbH|Corp|Group|Holdings|Partners|& Sons|Brothers|& Co|Consulting|Solutions|Systems|Technologies|Labs|Software
Capital|Bank|Insurance|Foundation|University|College|Institute|Hospital|Clinic|Center|Centre|Park|Street|Avenue|Road|Bridge|Airport|Station
Stadium|Theatre|Museum|Library|Square|Hall|House|Hotel|Award|Prize|Trophy|Cup|Theorem|Effect|Syndrome|Disease|Act|Report|Commission|Valley
County|Lake|River|Creek|Springs|Beach|Island|Heights|High School|Medical Center|Law School|Elementary|Motors|Airlines|Records|Press|Media""".replace("\n", "|").split("|")
THINGS = """Internet Explorer|Spring Boot|Ruby on Rails|Amazon Web Services|Google Maps|Apple Watch
Power BI|Tesla Model S|Ford Focus|Mercedes Benz|Harley Davidson|Morgan Stanley|Goldman Sachs|Charles Schwab|Levi Strauss
Ben & Jerry's|Martha's Vineyard|Jack Daniels|Jim Beam|Rolls Royce|Hewlett Packard|Bang & Olufsen|Harry Potter|Star Wars|Game of Thrones
Jenkins|Travis|Heroku|Julia|Ruby|Ada|Pascal|Cassandra|Django|Ansible|Grafana|Alexa|Siri|Cortana|Watson|Claude|Gemini|Mistral|Magnolia|Rose|Jasmine
Black Friday|Good Friday|Boxing Day|New Year|Mother's Day|Labor Day|Memorial Day|Chapter One|Part Two|Grand Slam|World Cup|Super Bowl
Victoria Station|Lincoln Memorial|St. James Park|Mount Everest|Lake Victoria|San Diego|San Jose|Santa Barbara|Los Angeles
New York|New Delhi|Hong Kong|Sierra Leone|Sri Lanka|Costa Rica|Saint Lucia|El Salvador|West Virginia|North Carolina|South Dakota|Las Vegas
Bill Payment|Will Call|Art Direction|Dean's List|Max Value|Min Value|Page Count|Rich Text|Drew Attention|Frank Discussion
Carol Singing|Dawn Patrol|Summer Sale|April Release|May Update|August Report|June Newsletter|Joy Division|Faith Based|Hope Street|Crystal Clear
Amber Alert|Ruby Gem|Pearl Jam|Olive Oil|Ginger Ale|Basil Leaves|Sage Advice|Holly Wreath|Ivy League|Daisy Chain|Heather Grey|Violet Light
Christian Science|Jordan River|Georgia Tech|Carolina Panthers|Dallas Cowboys|Chelsea FC|Madison Avenue|Lincoln Town Car|Jackson Hole|Cleveland Browns
Saint Petersburg|Prince Edward Island|King's College|Queen Mary University|Marks & Spencer|Ernst & Young|Baker Street|Abbey Road|Penny Lane
Kubernetes|Terraform|Elasticsearch|PostgreSQL|MongoDB|RabbitMQ|GitHub Actions|Azure DevOps|Cloud Run|Lambda|Fargate|Redshift|Snowflake|Databricks|Tableau
Bluetooth|WhatsApp|Messenger|LinkedIn|Facebook|Twitter|Instagram|TikTok|YouTube|Netflix|Spotify|Amazon|Walmart|Costco|Target|Starbucks|McDonalds
Bayern Munich|Real Madrid|Manchester United|Green Bay Packers|Boston Celtics|Los Angeles Lakers|Oxford|Cambridge|Harvard|Stanford|Yale|Princeton
Acme|Globex|Initrode|Hooli|Vandelay Industries|Wayne Enterprises|Stark Industries|Umbrella|Cyberdyne|Soylent|Massive Dynamic|Pied Piper""".replace("\n", "|").split("|")
ADJ = "Blue Red Green Golden Silver Bright Global United First Advanced Modern Digital Smart Open Prime Summit Pacific Atlantic Northern Apex Nova Alpha Delta Omega Quantum Stellar Urban Royal Metro Liberty Pioneer Heritage Evergreen".split()
NOUN = "Health Energy Data Cloud Foods Media Trading Logistics Ventures Networks Dynamics Analytics Robotics Pharma Steel Textiles Security Design Studio Works Motors Air Water Power Gas Mining Farms Books Games Sports".split()
JOBS = """engineer|nurse|teacher|lawyer|accountant|designer|project manager|sales representative|CEO|CTO|analyst|developer|consultant|professor|doctor|director
actor|singer|politician|footballer|author|poet|painter|physicist|historian|journalist|composer|architect|senator|coach|chef|photographer|economist|bishop""".replace("\n", "|").split("|")
TITLES = "Mr. Mrs. Ms. Dr. Mr Mrs Ms Dr Prof. Professor Sir Judge Senator President Coach Captain Officer Miss Rev. Chancellor Minister".split()
NATIONS = "American British French German Italian Spanish Canadian Australian Indian Japanese Brazilian Mexican Dutch Swedish Irish Scottish Polish Russian Nigerian Kenyan Turkish Greek".split()
ROLES = "Customer Client Patient Employee Tenant Buyer Seller Driver Guest Student Applicant Candidate Member Contact Passenger Recipient Sender Owner Agent Manager Reviewer Author Reporter Assignee Organizer Host Speaker Witness Instructor Caller Borrower Insured Payee Cardholder Doctor Attorney Nurse Supervisor Requester Approver Technician Editor Translator Director Producer Beneficiary".split()
BIG = """Austin Boston Denver Dallas Houston Phoenix Charlotte Jackson Madison Lincoln Cleveland Columbus Lexington Savannah Orlando Aurora Irving Carson Florence Sydney Adelaide
Victoria Alexandria Paris London Berlin Rome Milan Vienna Dublin Chelsea Brooklyn Chester Lancaster Preston Bradford Derby Lincoln Warwick Hamilton Wellington Melbourne Perth
Georgia Virginia Carolina Dakota Jordan Chad Chicago Seattle Portland Miami Atlanta Detroit Tokyo Delhi Mumbai Lagos Nairobi Cairo Lima Bogota Santiago Havana Kingston Valencia
Oxford Cambridge Manchester Liverpool Leeds Bristol Glasgow Edinburgh Cardiff Belfast Munich Hamburg Frankfurt Cologne Zurich Geneva Brussels Amsterdam Rotterdam Lisbon Porto Madrid
Barcelona Seville Lyon Nice Marseille Stockholm Oslo Copenhagen Helsinki Warsaw Krakow Prague Budapest Athens Istanbul Ankara Moscow Kiev Beijing Shanghai Seoul Bangkok Hanoi Manila
Jakarta Singapore Toronto Montreal Vancouver Ottawa Calgary Houston Memphis Nashville Tampa Reno Tulsa Omaha Raleigh Durham Norfolk Stockton Fremont Laredo Lorain Clarksville""".split()
PAST = """said asked replied whispered laughed smiled cried left arrived called texted emailed wrote signed paid bought sold moved visited met married joined quit
resigned retired died won lost scored missed failed passed finished started opened closed built fixed broke found forgot remembered knew thought believed hoped wanted needed tried helped
thanked blamed accused sued hired fired promoted invited ignored followed drove flew walked ran sat stood slept ate drank cooked cleaned played sang danced painted drew designed
taught learned studied graduated applied ordered returned cancelled booked confirmed approved rejected reviewed merged deployed tested presented proposed suggested announced denied admitted
warned claimed argued insisted agreed apologized complained explained noted added continued concluded recommended fell woke waited hugged kissed loved hated liked""".split()
NOW = "says asks wants needs loves hates likes thinks knows believes lives works plays sings teaches studies owns runs leads manages drives speaks writes reads cooks leaves arrives returns joins wins loses gets gives takes makes looks feels seems has is was will can should would might did does".split()
ADJ_LOW = "happy sad tired angry late early sick pregnant single married available busy out away ready right wrong great kind nice funny smart tall old young new responsible upset proud sorry sure amazing awesome brilliant terrible gone back here there".split()
REST = """about it|to him|to her|last night|yesterday|this morning|at noon|for years|in {city}|at {org}|with {org}|on {day}|the report|the car|a new job|the bill|three times|too much|again|quickly
that the {w} was late|the {thing} files|from {city}|to {city}|for {org}|in {month}|since {year}|because of the rain|for the team|from work|the other day|with us|without asking""".replace("\n", "|").split("|")
BEFORE = """I saw|We met|She loves|He hates|They blamed|I asked|Please ask|Please tell|Please call|You can ask|I talked to|I spoke with|We heard from|I got a mail from|Thanks to|Say hi to|A gift for|A letter from
A photo of|The son of|The wife of|The house of|A book by|An email to|A call from|The boss of|Give it to|Send it to|Forward it to|Remind|Invite|I miss|I know|Nobody told|Do you remember
Have you seen|What about|What did|Where is|When will|Why is|How is|Who told|Is it|Ask|Tell|Call|Meet|Thank you|Sorry|Good luck|Listen to|Look at|dear|the late|the famous|the great|fans of|according to|together with""".replace("\n", "|").split("|")
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
WORDS = """access account action active add admin agent alert all allow amount api app apply archive array asset async auth auto backup balance bar base batch billing
block board body bonus border box branch browser buffer bug build button cache call cancel card cart case cell change channel chart check child class clean click client clock clone close cloud
code column command comment commit common compare config confirm connect console contact content context control copy core count create credit current custom data date debug default delete deploy
design detail device dialog digest disable display docs domain download draft drive drop edit email enable encode end engine entry error event example exit export factory fail feature feed fetch field file
filter final find fix flag flow focus folder font footer force form format frame full function gateway global graph grid group guest handle header health help hidden hide history home hook host icon image import index info
input insert install instance integration invalid invoice issue item job join key label language last layout level library license light limit line link list live load local lock log login main manage map margin master match member menu merge
message meta method metric migration mobile mode model module monitor mount move name network next node notice null number object offline offset online open option order origin output owner package page panel parse partial password patch path pause payment
pending permission phone pipeline plan plugin point policy pool port post power preview price primary print private process product profile project prompt property proxy public publish pull push quality query queue quick quota range rate raw read ready
record recover redirect refresh region release reload remote remove render replace reply report request require reset resource response restore result retry return review role root route rule run sample save scan schedule schema scope score screen script search
section secret secure select send server service session set setting setup share sheet shell show sign single site size skip sort source space spec stack stage standard start state static status step stop storage store stream string style submit summary support
switch symbol sync system tab table tag target task team template test text theme thread ticket time title toggle token tool top total trace track transfer trial trigger type unit update upgrade upload url usage user valid value vendor version view virtual
wait warning web widget width window wizard word work worker write zone""".split()


class Inventor:
    def __init__(self, lists, seed=7):
        self.rng = random.Random(seed)
        self.people = People(lists, self.rng)
        self.sections = {}
        section = None
        for line in open(os.path.join(HERE, "templates.txt"), encoding="utf-8"):
            line = line.rstrip("\n")
            if line.startswith("=="):
                section = line[2:].strip()
                self.sections[section] = []
            elif section and line and not line.startswith("# "):
                self.sections[section].append(line.replace("\\n", "\n").replace("\\t", "\t"))

    # --- what stands in braces ---

    def org(self):
        r, x = self.rng, self.rng.random()
        if x < 0.35:
            return self.people.pick(self.people.last) + " " + r.choice(ORG_TAILS)
        if x < 0.45:
            return self.people.pick(self.people.last) + " & " + self.people.pick(self.people.last) + r.choice(["", " LLP", " Ltd", " Co", " Partners"])
        if x < 0.55:
            return self.people.pick(self.people.first, 3) + r.choice(["'s Kitchen", "'s Diner", "'s Bakery", "'s Auto Repair", " Street", " Avenue", " Point", " County"])
        if x < 0.7:
            return self.place() + " " + r.choice(ORG_TAILS)
        if x < 0.85:
            return r.choice(ADJ) + r.choice(["", " "]) + r.choice(NOUN) + r.choice(["", " Inc", " Ltd", " Group", " Corp"])
        return r.choice(THINGS)

    def place(self):
        return self.rng.choice(BIG) if self.rng.random() < 0.3 else self.rng.choice(self.people.places)

    def heading(self):
        r = self.rng
        return " ".join(w.capitalize() for w in r.sample(WORDS, r.randint(1, 4)))

    def brace(self, what, last):
        r = self.rng
        makers = {
            "org": self.org, "thing": lambda: r.choice(THINGS), "city": self.place, "job": lambda: r.choice(JOBS),
            "Job": lambda: r.choice(JOBS).title(), "t": lambda: r.choice(TITLES), "nat": lambda: r.choice(NATIONS), "role": lambda: r.choice(ROLES),
            "ROLE": lambda: r.choice(ROLES).upper(), "rolelow": lambda: r.choice(ROLES).lower(), "month": lambda: r.choice(MONTHS), "day": lambda: r.choice(DAYS), "w": lambda: r.choice(WORDS),
            "W": lambda: r.choice(WORDS).capitalize(), "U": lambda: r.choice(WORDS).upper(), "head": self.heading,
            "n": lambda: str(r.randint(1, 9)), "num": lambda: str(r.randint(10, 99999)), "year": lambda: str(r.randint(1900, 2026)),
            "date": lambda: r.choice([f"{r.randint(1990, 2026)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}", f"{r.randint(1, 12)}/{r.randint(1, 28)}/{r.randint(1950, 2026)}",
                                      f"{r.randint(1, 28)} {r.choice(MONTHS)} {r.randint(1950, 2026)}", f"{r.choice(MONTHS)[:3]} {r.randint(1, 28)}, {r.randint(1990, 2026)}"]),
            "time": lambda: f"{r.randint(0, 23):02}:{r.randint(0, 59):02}" + r.choice(["", "", f":{r.randint(0, 59):02}"]),
            "money": lambda: r.choice("$€£") + f"{r.randint(1, 9999)}.{r.randint(0, 99):02}", "hex": lambda: "%040x" % r.getrandbits(160), "sha": lambda: "%07x" % r.getrandbits(28),
            "phone": lambda: f"+1 {r.randint(200, 999)}-{r.randint(200, 999)}-{r.randint(1000, 9999)}",
            "id": lambda: r.choice(["ENG", "OPS", "INC", "HR", "PO", "CASE", "REQ"]) + "-" + str(r.randint(1, 9999)),
            "camel": lambda: r.choice(WORDS) + r.choice(WORDS).capitalize(), "Camel": lambda: r.choice(WORDS).capitalize() + r.choice(WORDS).capitalize(),
            "snake": lambda: r.choice(WORDS) + "_" + r.choice(WORDS), "file": lambda: r.choice(WORDS) + r.choice([".py", ".js", ".ts", ".md", ".json", ".txt", ".pdf"]),
            "ver": lambda: f"{r.randint(0, 20)}.{r.randint(0, 30)}.{r.randint(0, 9)}", "addr": lambda: f"{r.randint(1, 9999)} {self.people.pick(self.people.last)} {r.choice(['St', 'Street', 'Ave', 'Road', 'Lane', 'Drive'])}",
            "vd": lambda: r.choice(PAST), "vs": lambda: r.choice(NOW), "adj": lambda: r.choice(ADJ_LOW), "before": lambda: r.choice(BEFORE),
            "Before": lambda: (lambda s: s[0].upper() + s[1:])(r.choice(BEFORE)), "rest": lambda: self.fill(r.choice(REST), nested=True)[0],
            "big": lambda: r.choice(BIG), "todo": lambda: r.choice(["TO" + "DO", "FIX" + "ME"]),
            "sent": lambda: self.fill(r.choice(self.sections["plain"]), nested=True)[0],
        }
        if what == "m":
            f, l = [re.sub(r"[^a-z]", "", x.lower()) or "x" for x in last]
            return r.choice([f + "." + l, f[0] + l, f, f + l, l + "." + f, f + "_" + l, l]) + r.choice(["", "", str(r.randint(1, 99))]) + "@" + r.choice(
                ["example.com", "example.org", "mail.example.net", r.choice(NOUN).lower() + ".com", "corp.example"])
        if what == "u":
            f, l = [re.sub(r"[^a-z]", "", x.lower()) or "x" for x in last]
            return r.choice([f + l, f[0] + l, f + str(r.randint(1, 999)), l + "_" + f])
        return makers[what]()

    # --- names ---

    def bracket(self, what, person):
        r = self.rng
        first, last = person
        middle = self.people.pick(self.people.first)
        if what == "P":
            x = r.random()
            if x < 0.1:
                return f"{first} {middle[0]}. {last}"
            if x < 0.13:
                return f"{first} {middle} {last}"
            if x < 0.145:
                return f"{first} {last}" + r.choice([" Jr.", " Sr.", " III", " Jr"])
            return f"{first} {last}"
        forms = {"PP": f"{first} {last}", "F": first, "L": last, "LF": r.choice([f"{last}, {first}", f"{last}, {first}", f"{last}, {first} {middle[0]}."]),
                 "IL": r.choice([f"{first[0]}. {last}", f"{first[0]} {last}", f"{first[0]}.{middle[0]}. {last}"]), "FI": f"{first} {last[0]}.",
                 "PU": f"{first} {last}".upper(), "LU": f"{last.upper()} {first}", "LFU": f"{last}, {first}".upper(), "FU": first.upper(),
                 "pl": f"{first} {last}".lower(), "fl": first.lower()}
        return forms[what]

    def fill(self, template, nested=False):
        """The text, and where its names are, in bytes."""
        out, spans, people, last, at = b"", [], {}, self.people.person(), 0
        for m in re.finditer(r"\[(PP|P|F|LFU|LF|LU|L|IL|FI|PU|FU|pl|fl)(\d?)\]|\{(\w+?)(\d?)\}", template):
            out += template[at:m.start()].encode()
            at = m.end()
            which = m.group(2) or m.group(4) or ""
            if m.group(1):
                person = people.setdefault(which, self.people.person()) if which else self.people.person()
                last = person
                name = self.bracket(m.group(1), person).encode()
                spans.append((len(out), len(out) + len(name), 1))
                out += name
            else:
                if m.group(3) in ("m", "u") and which:
                    last = people.setdefault(which, self.people.person())
                text = self.brace(m.group(3), last)
                out += text if isinstance(text, bytes) else text.encode()
        out += template[at:].encode()
        return out, spans

    def join(self, pieces, by):
        out, spans = b"", []
        for text, marks in pieces:
            if out:
                out += by
            spans += [(a + len(out), b + len(out), k) for a, b, k in marks]
            out += text
        return out, spans

    def recased(self, filled):
        """Some people have no shift key, and some only that."""
        text, spans = filled
        x = self.rng.random()
        if x < 0.07:
            small = text.decode().lower().encode()
            return (small, spans) if len(small) == len(text) else filled
        if x < 0.09:
            big = text.decode().upper().encode()
            return (big, spans) if len(big) == len(text) else filled
        return filled

    def sentences(self, sections, low, high, by=None):
        r = self.rng
        pool = [t for s in sections for t in self.sections[s]]
        picked = [self.fill(r.choice(pool)) for _ in range(r.randint(low, high))]
        return self.recased(self.join(picked, by or r.choice([b" ", b" ", b"\n", b"\n\n"])))

    def rows(self):
        """A table without a head that says anything, or a list."""
        r = self.rng
        template = r.choice(self.sections["rows"])
        rows = [self.fill(template) for _ in range(r.randint(2, 8))]
        return self.join(rows, b"\n")

    def values(self):
        """Strings of a JSON document."""
        r, views = self.rng, []
        for _ in range(r.randint(3, 12)):
            key, template = r.choice(self.sections["values"]).split("|", 1)
            text, spans = self.fill(template)
            views.append((self.fill(r.choice(key.split(",")))[0], text, True, spans))
        return views


def texts(lists):
    """Yields (source, weight, views) with views of (key, text, is_value, spans)."""
    v = Inventor(lists)
    for _ in range(1500):
        yield ("invented/prose", 0.75, [(b"", *flat(v.sentences(["prose", "prose", "plain"], 1, 4)))])
    for _ in range(1500):
        yield ("invented/short", 0.75, [(b"", *flat(v.sentences(["short", "short", "plain"], 1, 3)))])
    for _ in range(900):
        yield ("invented/chat", 0.75, [(b"", *flat(v.sentences(["chat", "plain"], 1, 3)))])
    for _ in range(900):
        yield ("invented/layout", 0.75, [(b"", *flat(v.fill(v.rng.choice(v.sections["layout"]))))])
    for _ in range(400):
        yield ("invented/rows", 0.75, [(b"", *flat(v.rows()))])
    for _ in range(600):
        yield ("invented/values", 0.75, v.values())
    for _ in range(900):
        yield ("invented/nothing", 0.75, [(b"", *flat(v.sentences(["plain", "code"], 2, 6)))])


def flat(filled):
    return filled[0], False, filled[1]
