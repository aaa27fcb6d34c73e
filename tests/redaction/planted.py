"""Secrets of many kinds, made at random by the shapes that their issuers document, each in five
surroundings. The same seed gives the same values; none is anybody's.

    for planted in everything(seed=1, each=10):
        planted.kind, planted.text, planted.secret
"""

import base64
import json
import random
import string
import typing

LOWER = string.ascii_lowercase
UPPER = string.ascii_uppercase
DIGITS = string.digits
ALNUM = UPPER + LOWER + DIGITS
HEX = DIGITS + "abcdef"
BASE32 = UPPER + "234567"
URL_SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"


class Planted(typing.NamedTuple):
    kind: str
    syntax: int
    text: str
    secret: str  # what must be gone from the text


def draw(rng, alphabet, length):
    return "".join(rng.choice(alphabet) for _ in range(length))


def token(prefix, alphabet, length):
    return lambda rng: prefix + draw(rng, alphabet, length)


def b64(rng, length):
    return base64.b64encode(rng.randbytes(length)).decode()


def b64url(text):
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def jwt(rng):
    body = json.dumps({"sub": draw(rng, DIGITS, 10), "iat": rng.randrange(10**9)})
    return f'{b64url(json.dumps({"alg": "HS256", "typ": "JWT"}))}.{b64url(body)}.{draw(rng, URL_SAFE, 43)}'


def uuid(rng):
    return "-".join(draw(rng, HEX, n) for n in (8, 4, 4, 4, 12))


def discord(rng):
    number = str(rng.randrange(10**17, 10**18))
    return f"{b64url(number)}.{draw(rng, URL_SAFE, 6)}.{draw(rng, URL_SAFE, 38)}"


# Found wherever they stand.
TOKENS = {
    "aws_access_key": token("AKIA", BASE32, 16),
    "aws_temporary_key": token("ASIA", BASE32, 16),
    "google_api_key": token("AIza", URL_SAFE, 35),
    "google_oauth_secret": token("GOCSPX-", URL_SAFE, 28),
    "google_access_token": token("ya29.", URL_SAFE, 120),
    "azure_client_secret": lambda rng: f"{draw(rng, ALNUM, 3)}8Q~{draw(rng, URL_SAFE + '.~', 34)}",
    "digitalocean_token": token("dop_v1_", HEX, 64),
    "alibaba_key": token("LTAI", ALNUM, 20),
    "github_classic": token("ghp_", ALNUM, 36),
    "github_oauth": token("gho_", ALNUM, 36),
    "github_app": token("ghs_", ALNUM, 36),
    "github_fine_grained": lambda rng: f"github_pat_{draw(rng, ALNUM, 22)}_{draw(rng, ALNUM, 59)}",
    "gitlab_personal": token("glpat-", URL_SAFE, 20),
    "gitlab_runner": token("glrt-", URL_SAFE, 20),
    "bitbucket_app_password": token("ATBB", ALNUM, 32),
    "atlassian_api": lambda rng: f"ATATT3xFfGF0{draw(rng, URL_SAFE, 171)}={draw(rng, HEX.upper(), 8)}",
    "stripe_live": token("sk_live_", ALNUM, 24),
    "stripe_restricted": token("rk_live_", ALNUM, 99),
    "stripe_webhook": token("whsec_", ALNUM, 32),
    "square_access": token("EAAA", URL_SAFE, 60),
    "square_secret": token("sq0csp-", URL_SAFE, 43),
    "braintree": lambda rng: f"access_token$production${draw(rng, LOWER + DIGITS, 16)}${draw(rng, HEX, 32)}",
    "shopify_admin": token("shpat_", HEX, 32),
    "shopify_shared": token("shpss_", HEX, 32),
    "slack_bot": lambda rng: f"xoxb-{draw(rng, DIGITS, 12)}-{draw(rng, DIGITS, 13)}-{draw(rng, ALNUM, 24)}",
    "slack_app": lambda rng: f"xapp-1-A{draw(rng, UPPER + DIGITS, 10)}-{draw(rng, DIGITS, 13)}-{draw(rng, HEX, 64)}",
    "discord_bot": discord,
    "telegram_bot": lambda rng: f"{draw(rng, '123456789', 10)}:AA{draw(rng, URL_SAFE, 33)}",
    "twilio_key": token("SK", HEX, 32),
    "sendgrid": lambda rng: f"SG.{draw(rng, URL_SAFE, 22)}.{draw(rng, URL_SAFE, 43)}",
    "mailgun": token("key-", HEX, 32),
    "mailchimp": lambda rng: f"{draw(rng, HEX, 32)}-us{rng.randrange(1, 22)}",
    "npm": token("npm_", ALNUM, 36),
    "pypi": token("pypi-" + "AgEIcHlwaS5vcmc", URL_SAFE, 150),
    "rubygems": token("rubygems_", HEX, 48),
    "crates_io": token("cio", ALNUM, 32),
    "docker_hub": token("dckr_pat_", URL_SAFE, 27),
    "nuget": token("oy2", LOWER + DIGITS, 43),
    "openai_project": token("sk-proj-", URL_SAFE, 120),
    "openai_old": lambda rng: f"sk-{draw(rng, ALNUM, 20)}T3BlbkFJ{draw(rng, ALNUM, 20)}",
    "anthropic": lambda rng: f"sk-ant-api03-{draw(rng, URL_SAFE, 93)}AA",
    "hugging_face": token("hf_", UPPER + LOWER, 34),
    "groq": token("gsk_", ALNUM, 52),
    "replicate": token("r8_", ALNUM, 37),
    "vault": token("hvs.", URL_SAFE, 95),
    "terraform_cloud": lambda rng: f"{draw(rng, ALNUM, 14)}.atlasv1.{draw(rng, ALNUM, 67)}",
    "databricks": token("dapi", HEX, 32),
    "grafana": lambda rng: f"glsa_{draw(rng, ALNUM, 32)}_{draw(rng, HEX, 8)}",
    "new_relic": token("NRAK-", UPPER + DIGITS, 27),
    "linear": token("lin_api_", ALNUM, 40),
    "notion": token("ntn_", ALNUM, 46),
    "figma": token("figd_", URL_SAFE, 40),
    "postman": lambda rng: f"PMAK-{draw(rng, HEX, 24)}-{draw(rng, HEX, 34)}",
    "sentry_user": token("sntryu_", HEX, 64),
    "supabase": token("sbp_", HEX, 40),
    "doppler": token("dp.pt.", ALNUM, 43),
    "pulumi": token("pul-", HEX, 40),
    "tailscale": lambda rng: f"tskey-auth-{draw(rng, ALNUM, 12)}CNTRL-{draw(rng, ALNUM, 32)}",
    "planetscale": token("pscale_tkn_", URL_SAFE, 43),
    "age": token("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "jwt": jwt,
}

ANYWHERE = (
    'setting = "{}"\n',
    '{{"setting": "{}", "n": 1}}\n',
    "settings:\n  first: {}\n  second: 2\n",
    "export SETTING={}\n",
    "2026-03-01 12:00:00 INFO using {} for the request\n",
)

SESSION = "IQoJb3Jp" + "Z2luX2VjE"  # how session tokens begin

# Found by a name and by what they look like.
NAMED = {
    "aws_secret_access_key": ("aws_secret_access_key", lambda rng: draw(rng, BASE64, 40)),
    "aws_session_token": ("aws_session_token", lambda rng: SESSION + draw(rng, BASE64, 300)),
    "azure_storage": ("storage_account_key", lambda rng: b64(rng, 64)),
    "cloudflare_token": ("cloudflare_api_token", lambda rng: draw(rng, URL_SAFE, 40)),
    "heroku_uuid": ("heroku_api_key", uuid),
    "twilio_auth_token": ("twilio_auth_token", lambda rng: draw(rng, HEX, 32)),
    "datadog_api_key": ("datadog_api_key", lambda rng: draw(rng, HEX, 32)),
    "client_secret": ("client_secret", lambda rng: draw(rng, ALNUM, 32)),
    "access_token": ("access_token", lambda rng: draw(rng, URL_SAFE, 48)),
    "generated_password": ("db_password", lambda rng: draw(rng, ALNUM, 16)),
    "password_with_signs": ("smtp_password", lambda rng: draw(rng, ALNUM, 6) + draw(rng, "!@%^*_+-=.?~", 4) +
                            draw(rng, ALNUM, 8)),
    "signing_secret": ("signing_secret", lambda rng: draw(rng, HEX, 64)),
    "private_key_hex": ("eth_private_key", lambda rng: draw(rng, HEX, 64)),
}

BY_NAME = (
    '{name} = "{value}"\n',
    '{{\n  "{name}": "{value}",\n  "region": "eu-west-1"\n}}\n',
    "{name}: {value}\n",
    "export {NAME}={value}\n",
    'os.environ["{NAME}"] = \'{value}\'\n',
)

# Kinds of files rather than of secrets: the same generated value in what each of them has for it.
FILES = {
    "dotenv": ("API_TOKEN={}\n", "DB_PASSWORD={}   # staging\n", "SECRET_KEY='{}'\n", 'AUTH_TOKEN="{}"\n',
               "export CLIENT_SECRET={}\n"),
    "ini": ("[db]\npassword = {}\n", "[auth]\ntoken={}\n", "[s3]\nsecret_key: {}\n", "; note\napi_key = {}\n",
            "[ftp]\n\tpasswd = {}\r\n"),
    "yaml": ("auth:\n  token: {}\n", "- password: {}\n", "secret: '{}'\n", 'api_key: "{}" # note\n',
             "db: {{user: ann, password: {}, port: 5432}}\n"),
    "json": ('{{"password":"{}"}}\n', '{{"auth": {{"token": "{}"}}}}\n', '[{{"apiKey" : "{}"}}]\n',
             '{{"body": "{{\\"secret\\":\\"{}\\"}}"}}\n', '{{"name": "API_TOKEN", "value": "{}"}}\n'),
    "shell": ("export API_KEY={}\n", "TOKEN={} ./deploy.sh\n", "./login --token={} --verbose\n",
              "./login --password {}\n", 'curl "https://host/v1?api_key={}&n=1"\n'),
    "high_entropy_literal": ('x = "{}"\n', "send('{}');\n", "{{\"id\": \"{}\"}}\n", "values = [`{}`]\n",
                             "const char* kValue = \"{}\";\n"),
}

URLS = (
    'url = "{}"\n',
    '{{"url": "{}"}}\n',
    "database:\n  url: {}\n",
    "export DATABASE_URL={}\n",
    "$ psql {} -c 'select 1'\n",
)

HEADERS = (
    "curl -H 'Authorization: {}' https://host/\n",
    'headers = {{"Authorization": "{}"}}\n',
    "GET / HTTP/1.1\r\nHost: host\r\nAuthorization: {}\r\n\r\n",
    "> authorization: {}\n",
    'req.Header.Set("Authorization", "{}")\n',
)


def password(rng):
    return draw(rng, ALNUM, rng.randrange(12, 25))


def url_secrets(rng):
    """Kind, whole URL, secret part."""
    for scheme, port in (("postgres", 5432), ("mysql", 3306), ("mongodb+srv", 27017), ("redis", 6379), ("amqp", 5672)):
        value = password(rng)
        user = "" if scheme == "redis" else "app"
        yield f"{scheme}_url", f"{scheme}://{user}:{value}@db.internal:{port}/app", value
    value = password(rng)
    yield "basic_auth_url", f"https://ann:{value}@git.internal/a/b.git", value
    value = draw(rng, ALNUM, 24)
    yield "slack_webhook", (f"https://hooks.slack.com/services/T{draw(rng, UPPER + DIGITS, 9)}/"
                            f"B{draw(rng, UPPER + DIGITS, 10)}/{value}"), value
    value = draw(rng, URL_SAFE, 68)
    yield "discord_webhook", f"https://discord.com/api/webhooks/{draw(rng, DIGITS, 18)}/{value}", value
    value = b64(rng, 32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    yield "azure_sas", f"https://acc.blob.core.windows.net/c?sv=2024-01-01&sp=r&sig={value}", value


def pem(rng, label, size):
    body = b64(rng, size)
    lines = [body[i:i + 64] for i in range(0, len(body), 64)]
    return [f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"]


def key_blocks(rng):
    for label, size in (("RSA PRIVATE KEY", 1190), ("EC PRIVATE KEY", 121), ("OPENSSH PRIVATE KEY", 300),
                        ("PRIVATE KEY", 48), ("ENCRYPTED PRIVATE KEY", 1300), ("PGP PRIVATE KEY BLOCK", 900)):
        lines = pem(rng, label, size)
        secret = lines[1]
        forms = ("\n".join(lines) + "\n",
                 '{"private_key": "' + "\\n".join(lines) + '\\n"}\n',
                 "tls:\n  key: |\n" + "".join(f"    {line}\n" for line in lines),
                 'KEY = """' + "\n".join(lines) + '\n"""\n',
                 "const char kKey[] =\n" + "".join(f'    "{line}\\n"\n' for line in lines) + ";\n")
        for syntax, text in enumerate(forms):
            yield Planted(label.lower().replace(" ", "_"), syntax, text, secret)


def everything(seed, each):
    rng = random.Random(seed)
    for _ in range(each):
        for kind, make in TOKENS.items():
            for syntax, around in enumerate(ANYWHERE):
                value = make(rng)
                yield Planted(kind, syntax, around.format(value), value)
        for kind, (name, make) in NAMED.items():
            for syntax, around in enumerate(BY_NAME):
                value = make(rng)
                yield Planted(kind, syntax, around.format(name=name, NAME=name.upper(), value=value), value)
        for kind, forms in FILES.items():
            for syntax, around in enumerate(forms):
                value = draw(rng, ALNUM, 32 if kind == "high_entropy_literal" else rng.randrange(20, 41))
                yield Planted(kind, syntax, around.format(value), value)
        for syntax, around in enumerate(URLS):
            for kind, url, secret in url_secrets(rng):
                yield Planted(kind, syntax, around.format(url), secret)
        for syntax, around in enumerate(HEADERS):
            value = draw(rng, URL_SAFE, 40)
            yield Planted("bearer", syntax, around.format(f"Bearer {value}"), value)
            value = base64.b64encode(f"ann:{password(rng)}".encode()).decode()
            yield Planted("basic", syntax, around.format(f"Basic {value}"), value)
        yield from key_blocks(rng)
