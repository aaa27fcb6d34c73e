"""The five sources of the demonstration suite, and the short texts for the two judged questions.

What is generated depends on nothing but the code here: the same bytes on every machine. The rest
comes with Debian: the package database, the licence texts, and a novel from the package
r-cran-janeaustenr, fetched by apt-get without installing it.
"""

import csv
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

SERVICES = ["checkout", "search", "login", "catalog", "payment", "shipping"]
COUNTRIES = ["DE", "FR", "US", "JP", "BR", "IN", "GB"]
PATHS = ["/", "/cart", "/item", "/search", "/login", "/pay", "/ship", "/help"]
PRODUCTS = {"lamp": 3990, "desk": 18900, "chair": 8900, "shelf": 6450, "rug": 11900, "clock": 2490}
CUSTOMERS = ["Amara Okafor", "Bruno Keller", "Chiara Rossi", "Daichi Mori", "Elif Demir",
             "Farid Haddad", "Greta Lund", "Hana Novak"]


def progress(text: str) -> None:
    print(f"suite: {text}", file=sys.stderr, flush=True)


def make_log(path: pathlib.Path, size: int) -> None:
    """NDJSON events up to `size` bytes, with a nested user and a few odd ones out."""
    rng = random.Random(20261121)
    written, index = 0, 0
    with path.open("w", encoding="utf-8") as out:
        while written < size:
            lines = []
            for _ in range(5000):
                service = rng.choices(SERVICES, weights=[5, 9, 4, 8, 3, 2])[0]
                failed = rng.random() < (0.06 if service == "payment" else 0.02)
                status = rng.choice([500, 502, 503]) if failed else rng.choice([200, 200, 200, 201, 304, 404])
                lines.append(json.dumps({
                    "id": index,
                    "time": f"2026-11-{1 + index // 60000 % 28:02d}T{index // 2500 % 24:02d}:"
                            f"{index // 42 % 60:02d}:{index % 60:02d}Z",
                    "level": "error" if failed else "info",
                    "service": service,
                    "status": status,
                    "duration_ms": int(rng.lognormvariate(4.0, 0.8)) + (400 if failed else 0),
                    "path": rng.choice(PATHS),
                    "user": {"id": rng.randrange(20000),
                             "country": rng.choices(COUNTRIES, weights=[6, 5, 9, 4, 3, 7, 2])[0]},
                    "message": "request failed, see trace" if failed else "request served",
                }))
                index += 1
            text = "\n".join(lines) + "\n"
            out.write(text)
            written += len(text)


def make_orders(path: pathlib.Path) -> None:
    """CSV with quoted line ends: 3,000 orders, comments of one to four lines."""
    rng = random.Random(7)
    words = ("arrived on time packed well colour differs a little from the picture my neighbour wants "
             "one too the screws were missing but support sent new ones quickly would order again").split()
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["order_id", "date", "customer", "product", "quantity", "price_cents",
                         "rating", "comment"])
        for number in range(1, 3001):
            product = rng.choices(list(PRODUCTS), weights=[9, 3, 6, 4, 3, 8])[0]
            comment = "\n".join(" ".join(rng.choices(words, k=rng.randrange(3, 12)))
                                for _ in range(rng.randrange(1, 5)))
            if rng.random() < 0.2:
                comment += ' - he said "fine"'
            writer.writerow([number, f"2026-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}",
                             rng.choices(CUSTOMERS, weights=[3, 5, 4, 6, 2, 3, 8, 5])[0], product,
                             rng.randrange(1, 6), PRODUCTS[product],
                             rng.choices([1, 2, 3, 4, 5], weights=[1, 1, 2, 5, 6])[0], comment])


def make_messages(path: pathlib.Path) -> None:
    """30 short customer messages; what each is about needs reading."""
    rng = random.Random(3)
    delivery = [
        "I waited three weeks and the parcel still is not here.",
        "The courier left my box at the wrong house again.",
        "Tracking says it was handed over, yet nobody rang my bell.",
        "You promised two days. It took eleven.",
        "Still nothing in the post, where is my order?",
        "It came so late that the birthday was long over.",
    ]
    quality = [
        "After one week the handle came off in my hand.",
        "The paint peels and one leg is shorter than the others.",
        "It stopped working on the second day.",
        "The fabric tore the first time my son sat down.",
        "Scratches all over, and the drawer does not close.",
    ]
    price = [
        "The same lamp costs half as much in the shop next door.",
        "Forty euros for a plastic clock, that is far too much.",
        "You raised what I pay twice this year without a reason.",
    ]
    praise = [
        "Lovely chair, my back thanks you.",
        "Everything went smoothly and the desk looks wonderful.",
        "What a friendly team, thank you so much!",
        "I am delighted, the rug is even softer than I hoped.",
        "Great clock, I bought a second one for my sister.",
        "Best purchase of the year for me.",
        "Quick, kind and exactly what I wanted.",
        "The shelf fits perfectly and makes me smile each morning.",
    ]
    rows = []
    for topic, texts, count in (("delivery", delivery, 10), ("quality", quality, 5),
                                ("price", price, 3), ("praise", praise, 12)):
        for index in range(count):
            opening = "" if index < len(texts) else rng.choice(["Hello. ", "To whom it may concern: ",
                                                               "Dear team, "])
            rows.append((topic, opening + texts[index % len(texts)]))
    rng.shuffle(rows)
    with path.open("w", encoding="utf-8") as out:
        for number, (_, text) in enumerate(rows, 1):
            out.write(json.dumps({"number": number, "text": text}) + "\n")
    truth = {topic: sum(1 for row in rows if row[0] == topic)
             for topic in ("delivery", "quality", "price", "praise")}
    path.with_suffix(".truth.json").write_text(json.dumps(truth))


def r_strings(blob: bytes) -> list[str]:
    """The texts of a character vector in R's serialised form (type 9 items, length, bytes)."""
    texts, at = [], 0
    while True:
        at = blob.find(b"\x00\x04\x00\x09", at)
        if at < 0:
            return texts
        (length,) = struct.unpack(">i", blob[at + 4:at + 8])
        if 0 <= length <= len(blob) - at - 8:
            texts.append(blob[at + 8:at + 8 + length].decode("utf-8", "replace"))
            at += 8 + length
        else:
            at += 4


def unpack_package(name: str, folder: pathlib.Path) -> None:
    """The files of a Debian package, which is fetched but not installed."""
    subprocess.run(["apt-get", "download", name], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (package,) = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True)


def make_novel(path: pathlib.Path) -> None:
    """Pride and Prejudice, from the Debian package r-cran-janeaustenr."""
    with tempfile.TemporaryDirectory() as folder:
        unpack_package("r-cran-janeaustenr", pathlib.Path(folder))
        (data,) = pathlib.Path(folder).rglob("data/Rdata.rdb")
        raw, at = data.read_bytes(), 0
    while at < len(raw):
        unpacker = zlib.decompressobj()
        lines = r_strings(unpacker.decompress(raw[at + 4:]))
        at = len(raw) - len(unpacker.unused_data)
        if any("PRIDE AND PREJUDICE" in line for line in lines[:5]):
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            return
    raise SystemExit("suite: the package r-cran-janeaustenr does not hold Pride and Prejudice")


def prepare(folder: pathlib.Path, log_bytes: int) -> dict[str, list[str]]:
    """Makes what is missing; returns for each source the arguments of `dossier ask`."""
    folder.mkdir(parents=True, exist_ok=True)
    makers = {"events.ndjson": lambda path: make_log(path, log_bytes), "orders.csv": make_orders,
              "messages.ndjson": make_messages, "novel.txt": make_novel}
    for name, make in makers.items():
        path = folder / name
        if not path.exists():
            progress(f"making {name}")
            partial = folder / ("." + name)
            make(partial)
            partial.rename(path)
            truth = partial.with_suffix(".truth.json")
            if truth.exists():
                truth.rename(path.with_suffix(".truth.json"))
    # A copy: the file changes when anything is installed while the questions are asked.
    shutil.copyfile("/var/lib/dpkg/status", folder / "status")
    return {"packages": ["-c", str(folder / "status")],
            "log": ["-c", str(folder / "events.ndjson")],
            "orders": ["-c", str(folder / "orders.csv")],
            "novel": ["-c", str(folder / "novel.txt")],
            "licences": ["-r", "-c", "/usr/share/common-licenses"],
            "messages": ["-c", str(folder / "messages.ndjson")]}
