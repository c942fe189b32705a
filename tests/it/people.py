"""People who do not exist, with all that one should not show of them; the same ones each time.

Check digits are right, and nothing that looks like a vendor's key stands in a file in one piece.
"""

import base64
import json
import random
import string

FIRST = ("Amara Bjarne Chiara Dmitri Eleni Farid Greta Hamza Ingrid Joaquin Katarzyna Lennart Meera Noah Oksana Pedro "
         "Quentin Rosalind Sanjay Tamsin Ulrich Violeta Wanjiru Xavier Yusuf Zuzana Harriet Tobias Marguerite Callum").split()
LAST = ("Achterberg Bellweather Castellanos Dunmore Eriksen Fitzwilliam Grabowski Hollingsworth Ivanchenko Jablonski "
        "Kowalczyk Lindqvist Montgomery Nakamura Oyelaran Petrosyan Quiroga Rasmussen Sepulveda Thistlewood Underhill "
        "Vandermeer Whitcombe Yamashiro Zielinski Abernathy Brannigan Delacroix Hargreaves Pemberton").split()
STREET = ("Maple Street", "Old Mill Road", "Harbor Avenue", "Birchwood Lane", "Church Street", "Linden Drive",
          "Sycamore Court", "Station Road", "Highland Avenue", "Riverside Drive")
CITY = (("Springfield", "IL", "62704"), ("Dayton", "OH", "45402"), ("Salem", "OR", "97301"), ("Concord", "NH", "03301"),
        ("Boulder", "CO", "80302"), ("Athens", "GA", "30601"), ("Eugene", "OR", "97401"), ("Duluth", "MN", "55802"))
DOMAIN = ("example.com", "example.org", "mail.example.net", "post.example.com")
ALNUM = string.ascii_letters + string.digits


def luhn(digits):
    total = 0
    for i, d in enumerate(reversed(digits)):
        n = int(d) * (2 if i % 2 == 0 else 1)
        total += n - 9 if n > 9 else n
    return digits + str(-total % 10)


def iban(country, account):
    rest = account + "".join(str(int(c, 36)) for c in country) + "00"
    return "%s%02d%s" % (country, 98 - int(rest) % 97, account)


def pick(r, alphabet, n):
    return "".join(r.choice(alphabet) for _ in range(n))


def vendor_key(r, which):
    heads = {"stripe": ("sk_" + "live_", ALNUM, 24), "github": ("gh" + "p_", ALNUM, 36),
             "aws": ("AK" + "IA", string.ascii_uppercase + "234567", 16), "google": ("AI" + "za", ALNUM + "_-", 35),
             "slack": ("xo" + "xb-", string.digits, 12), "anthropic": ("sk-" + "ant-api03-", ALNUM + "_-", 93),
             "openai": ("sk-" + "proj-", ALNUM, 48), "sendgrid": ("S" + "G.", ALNUM + "_-", 22)}
    head, alphabet, n = heads[which]
    body = pick(r, alphabet, n)
    if which == "slack":
        body += "-" + pick(r, string.digits, 12) + "-" + pick(r, ALNUM, 24)
    elif which == "anthropic":
        body += "AA"
    elif which == "sendgrid":
        body += "." + pick(r, ALNUM + "_-", 43)
    return head + body


def jwt(r, subject):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
    return "%s.%s.%s" % (part({"alg": "HS256", "typ": "JWT"}), part({"sub": subject, "iat": 1760000000}),
                         pick(r, ALNUM + "_-", 43))


def pem(r):
    lines = [pick(r, ALNUM + "+/", 64) for _ in range(8)]
    return "-----BEGIN " + "PRIVATE KEY-----\n%s\n-----END " % "\n".join(lines) + "PRIVATE KEY-----"


class Person:
    """Each has 13 things. `key` decides all of them."""

    def __init__(self, key):
        r = self.r = random.Random("person %s" % key)
        self.first, self.last = r.choice(FIRST), r.choice(LAST)
        self.name = self.first + " " + self.last
        self.email = "%s.%s%s@%s" % (self.first.lower(), self.last.lower(), key, r.choice(DOMAIN))
        self.phone = "+1 %d-%d-%04d" % (r.choice((212, 312, 415, 503, 617, 720)), r.randint(220, 989), r.randint(0, 9999))
        card = luhn(r.choice(("4539", "4716", "5305", "5241")) + pick(r, string.digits, 11))
        self.card = " ".join(card[i:i + 4] for i in range(0, 16, 4))
        self.ssn = "%03d-%02d-%04d" % (r.randint(101, 665), r.randint(1, 99), r.randint(1, 9999))
        self.iban = iban("DE", pick(r, "123456789", 1) + pick(r, string.digits, 17))
        self.birth = "%d-%02d-%02d" % (r.randint(1945, 2003), r.randint(1, 12), r.randint(1, 28))
        self.house = "%d %s" % (r.randint(11, 4999), r.choice(STREET))
        city = r.choice(CITY)
        self.address = "%s, %s, %s %s" % (self.house, *city)
        self.ip = "%d.%d.%d.%d" % (r.choice((81, 93, 145, 178, 203)), *(r.randint(1, 254) for _ in range(3)))
        self.password = pick(r, ALNUM, 9) + r.choice("!#%") + pick(r, string.digits, 3)
        self.jwt = jwt(r, "user-%s" % key)
        self.pem = pem(r)
        for which in ("stripe", "github", "aws", "google", "slack", "anthropic", "openai", "sendgrid"):
            setattr(self, which, vendor_key(r, which))


# What is a field of a layout, and the type that it is in the scorer's words.
TYPES = {"name": "PERSON", "first": "PERSON", "last": "PERSON", "email": "EMAIL", "phone": "PHONE", "card": "CREDIT_CARD",
         "ssn": "SSN", "iban": "IBAN", "birth": "DOB", "house": "ADDRESS", "address": "ADDRESS", "ip": "IP",
         "password": "PASSWORD", "jwt": "JWT", "pem": "PRIVATE_KEY", "stripe": "API_KEY", "github": "API_KEY", "aws": "API_KEY",
         "google": "API_KEY", "slack": "API_KEY", "anthropic": "API_KEY", "openai": "API_KEY", "sendgrid": "API_KEY"}
