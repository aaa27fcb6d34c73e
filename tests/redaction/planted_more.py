"""More planted secrets: services and files that planted.py does not have, each as it is found in the
file that usually holds it. Written before the detector knew any of them, of which it found 79 %.

    for planted in everything(seed=1, each=4):
        planted.kind, planted.text, planted.secret
"""

import base64
import random

from planted import ALNUM, BASE64, DIGITS, HEX, LOWER, UPPER, URL_SAFE, Planted, b64, draw, password, pem, uuid

# Of services whose keys begin in a way of their own.
SERVICES = {
    "openrouter": lambda rng: "sk-or-v1-" + draw(rng, HEX, 64),
    "elevenlabs": lambda rng: "sk_" + draw(rng, HEX, 48),
    "pinecone": lambda rng: "pcsk_" + draw(rng, ALNUM, 6) + "_" + draw(rng, ALNUM, 62),
    "langsmith": lambda rng: f"lsv2_pt_{draw(rng, HEX, 32)}_{draw(rng, HEX, 10)}",
    "tavily": lambda rng: "tvly-dev-" + draw(rng, ALNUM, 32),
    "fireworks": lambda rng: "fw_" + draw(rng, ALNUM, 24),
    "e2b": lambda rng: "e2b_" + draw(rng, HEX, 40),
    "airtable": lambda rng: f"pat{draw(rng, ALNUM, 14)}.{draw(rng, HEX, 64)}",
    "mapbox_secret": lambda rng: "sk.eyJ1Ijoi" + draw(rng, ALNUM, 60) + "." + draw(rng, URL_SAFE, 22),
    "launchdarkly": lambda rng: "sdk-" + uuid(rng),
    "typeform": lambda rng: f"tfp_{draw(rng, ALNUM, 44)}_{draw(rng, ALNUM, 14)}",
    "shippo": lambda rng: "shippo_live_" + draw(rng, HEX, 40),
    "razorpay": lambda rng: "rzp_live_" + draw(rng, ALNUM, 14),
    "plaid": lambda rng: "access-production-" + uuid(rng),
    "sonarqube": lambda rng: "sqp_" + draw(rng, HEX, 40),
    "circleci": lambda rng: f"CCIPAT_{draw(rng, ALNUM, 22)}_{draw(rng, HEX, 40)}",
    "buildkite": lambda rng: "bkua_" + draw(rng, HEX, 40),
    "prefect": lambda rng: "pnu_" + draw(rng, ALNUM, 36),
    "artifactory": lambda rng: "AKCp8" + draw(rng, ALNUM, 68),
    "flutterwave": lambda rng: f"FLWSECK-{draw(rng, HEX, 32)}-X",
    "firebase_server": lambda rng: f"AAAA{draw(rng, URL_SAFE, 7)}:APA91b{draw(rng, URL_SAFE, 134)}",
    "clickup": lambda rng: f"pk_{draw(rng, DIGITS, 8)}_{draw(rng, UPPER + DIGITS, 32)}",
    "asana": lambda rng: f"2/{draw(rng, DIGITS, 16)}/{draw(rng, DIGITS, 16)}:{draw(rng, HEX, 32)}",
}
AROUND = ('client = Client(api_key="{}")\n', "SERVICE_API_KEY={}\n", '{{"apiKey": "{}"}}\n',
          "export SERVICE_TOKEN='{}'\n", "curl -H 'X-Api-Key: {}' https://host/v1/items\n")

# Of services whose keys are plain random text: only the name and the place tell.
PLAIN = {
    "cohere": ("COHERE_API_KEY", lambda rng: draw(rng, ALNUM, 40)),
    "mistral": ("MISTRAL_API_KEY", lambda rng: draw(rng, ALNUM, 32)),
    "algolia": ("ALGOLIA_ADMIN_KEY", lambda rng: draw(rng, HEX, 32)),
    "snyk": ("SNYK_TOKEN", uuid),
    "okta": ("OKTA_API_TOKEN", lambda rng: "00" + draw(rng, URL_SAFE, 40)),
    "wandb": ("WANDB_API_KEY", lambda rng: draw(rng, HEX, 40)),
    "linode": ("LINODE_TOKEN", lambda rng: draw(rng, HEX, 64)),
    "django": ("SECRET_KEY", lambda rng: "django-insecure-" + draw(rng, LOWER + DIGITS + "!@#$%^&*(-_=+)", 50)),
}
BY_NAME = ('{name} = "{value}"\n', "{name}='{value}'\n", '    "{name}": "{value}",\n')

# Files and commands that hold a secret in a way of their own.
PLACES = {
    "netrc": ("machine api.host.invalid\n  login ann\n  password {}\n", password),
    "netrc_line": ("machine api.host.invalid login ann password {}\n", password),
    "npmrc": ("//registry.host.invalid/:_authToken={}\n", uuid),
    "docker_config": ('{{"auths": {{"host.invalid": {{"auth": "{}"}}}}}}\n',
                      lambda rng: base64.b64encode(f"ann:{password(rng)}".encode()).decode()),
    "maven_settings": ("<server>\n  <id>releases</id>\n  <password>{}</password>\n</server>\n", password),
    "jdbc": ("spring.datasource.url=jdbc:postgresql://db/app?user=ann&password={}\n", password),
    "jdbc_property": ("spring.datasource.password={}\n", password),
    "connection_string": ('"Default": "Server=db;Database=app;User Id=ann;Password={};Encrypt=true"\n', password),
    "azure_storage_string": ("AZURE=DefaultEndpointsProtocol=https;AccountName=acc;AccountKey={};"
                             "EndpointSuffix=core.windows.net\n", lambda rng: b64(rng, 64)),
    "service_bus": ("Endpoint=sb://acc.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}\n",
                    lambda rng: b64(rng, 32)),
    "kubernetes_secret": ("apiVersion: v1\nkind: Secret\ndata:\n  password: {}\n",
                          lambda rng: base64.b64encode(password(rng).encode()).decode()),
    "kubeconfig": ("users:\n- name: ann\n  user:\n    client-key-data: {}\n",
                   lambda rng: base64.b64encode("\n".join(pem(rng, "RSA PRIVATE KEY", 600)).encode()).decode()),
    "kubernetes_tls": ("data:\n  tls.crt: LS0tLS1CRUdJTiBDRVJU\n  tls.key: {}\n",
                       lambda rng: base64.b64encode("\n".join(pem(rng, "PRIVATE KEY", 600)).encode()).decode()),
    "kubeconfig_token": ("users:\n- user:\n    token: {}\n", lambda rng: draw(rng, HEX, 40)),
    "wireguard": ("[Interface]\nAddress = 10.0.0.2/24\nPrivateKey = {}\n", lambda rng: b64(rng, 32)),
    "shell_pgpassword": ("PGPASSWORD={} psql -h db -U ann app\n", password),
    "curl_user": ("curl -u ann:{} https://host.invalid/\n", password),
    "mysql_option": ("mysql -u ann --password={} app\n", password),
    "terraform": ('resource "db" "main" {{\n  username = "ann"\n  password = "{}"\n}}\n', password),
    "compose": ("services:\n  db:\n    environment:\n      - POSTGRES_PASSWORD={}\n", password),
    "compose_map": ("services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: {}\n", password),
    "dockerfile": ("FROM debian\nENV API_TOKEN={}\n", lambda rng: draw(rng, ALNUM, 40)),
    "rails": ("production:\n  secret_key_base: {}\n", lambda rng: draw(rng, HEX, 128)),
    "php_define": ("define('DB_PASSWORD', '{}');\n", password),
    "wordpress_salt": ("define( 'AUTH_KEY',  '{}' );\n",
                       lambda rng: draw(rng, ALNUM + "!@#$%^&*()-_[]{}<>~+=,.;:/?|", 64)),
    "java_constant": ('private static final String API_SECRET = "{}";\n', lambda rng: draw(rng, ALNUM, 32)),
    "go_constant": ('const apiSecret = "{}"\n', lambda rng: draw(rng, ALNUM, 32)),
    "ruby_symbol": (":password => '{}',\n", password),
    "gradle": ("signing.password={}\n", password),
    "xml_attribute": ('<user name="ann" password="{}"/>\n', password),
    "toml": ('[registry]\ntoken = "{}"\n', lambda rng: draw(rng, ALNUM, 36)),
    "powershell": ("$env:API_KEY = '{}'\n", lambda rng: draw(rng, ALNUM, 40)),
    "cookie": ("Cookie: theme=dark; session_token={}\n", lambda rng: draw(rng, URL_SAFE, 43)),
    "proxy_header": ("X-Auth-Token: {}\n", lambda rng: draw(rng, HEX, 40)),
    "log_line": ("12:00:01 WARN login failed, password={} user=ann\n", password),
    "markdown": ("Use the token `{}` for the staging server.\n", lambda rng: draw(rng, ALNUM, 40)),
}


def everything(seed, each):
    rng = random.Random(seed)
    for _ in range(each):
        for kind, make in SERVICES.items():
            for syntax, around in enumerate(AROUND):
                value = make(rng)
                yield Planted(kind, syntax, around.format(value), value)
        for kind, (name, make) in PLAIN.items():
            for syntax, around in enumerate(BY_NAME):
                value = make(rng)
                yield Planted(kind, syntax, around.format(name=name, value=value), value)
        for kind, (around, make) in PLACES.items():
            value = make(rng)
            yield Planted(kind, 0, around.format(value), value)
