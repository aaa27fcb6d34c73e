"""Reads files of rows with Python's own readers into an SQLite file: the second path of tables and logs.

usage: python3 -I load_rows.py DATABASE FILE…
"""

import csv
import json
import re
import sqlite3
import sys
import xml.etree.ElementTree

LOG = re.compile(r"(\S+) (\S+) (\S+) user=(\d+) status=(\d+) ms=(\d+) msg=")
ORDER = ("id", "customer", "day", "product", "quantity", "cents")


def log_rows(path):
    with open(path, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            if match := LOG.match(line):
                yield match.groups()


def ndjson_rows(path):
    with open(path, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            row = json.loads(line)
            yield [row[name] for name in ORDER]


def csv_rows(path):
    with open(path, encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            yield [row[name] for name in ORDER]


def deb822_rows(path):
    with open(path, encoding="utf-8", newline="\n") as lines:
        row = {}
        for line in lines:
            if line == "\n":
                yield [row[name] for name in ORDER]
                row = {}
            elif not line.startswith(" "):
                name, _, value = line.partition(": ")
                row[name.lower()] = value.rstrip("\n")
        if row:
            yield [row[name] for name in ORDER]


def xml_rows(path):
    for _, element in xml.etree.ElementTree.iterparse(path):
        if element.tag == "order":
            yield [element.findtext(name) for name in ORDER]
            element.clear()


def customer_rows(path):
    with open(path, encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            yield row["customer"], row["country"]


READERS = {".ndjson": ndjson_rows, ".csv": csv_rows, ".deb822": deb822_rows, ".xml": xml_rows}


def main(database, *paths):
    db = sqlite3.connect(database, isolation_level=None)
    db.executescript(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
        "CREATE TABLE logs(ts TEXT, level TEXT, service TEXT, user INTEGER, status INTEGER, ms INTEGER);"
        "CREATE TABLE orders(id INTEGER, customer INTEGER, day TEXT, product TEXT, quantity INTEGER, cents INTEGER);"
        "CREATE TABLE customers(customer INTEGER, country TEXT); BEGIN")
    for path in paths:
        if path.endswith(".log"):
            db.executemany("INSERT INTO logs VALUES(?, ?, ?, ?, ?, ?)", log_rows(path))
        elif path.endswith("customers.csv"):
            db.executemany("INSERT INTO customers VALUES(?, ?)", customer_rows(path))
        else:
            reader = READERS[path[path.rindex("."):]]
            db.executemany("INSERT INTO orders VALUES(?, ?, ?, ?, ?, ?)", reader(path))
    db.execute("COMMIT")


if __name__ == "__main__":
    main(*sys.argv[1:])
