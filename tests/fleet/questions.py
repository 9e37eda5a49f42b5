"""questions.py - the questions of backstitch-fleet-sql(7).

    for q in asked():   # in the order of the page
        q.title, q.clickhouse, q.duckdb     # texts without the comment line
    duckdb()                # the statements that make tables of files,
    clickhouse()            # and those that make views"""
import collections
import os
import re

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "../../man/backstitch-fleet-sql.7")
Question = collections.namedtuple("Question", "title clickhouse duckdb")


def blocks(text):
    """The literal blocks of a part of the page."""
    return [b.replace("\\&", "").replace("\\e", "\\") for b in re.findall(
        r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed$", text, re.M | re.S)]


def parts():
    """(title, text) of each .Ss."""
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()
    body = re.split(r"^\.Sh SEE ALSO", page, flags=re.M)[0]
    for part in re.split(r"^\.Ss ", body, flags=re.M)[1:]:
        title, text = part.split("\n", 1)
        yield title, text


def statements(engine):
    """Those of the section SETTING UP."""
    text = next(t for title, t in parts() if title == engine)
    return [s.strip() for s in blocks(text)[0].split(";") if s.strip()]


def duckdb(lake="lake"):
    return [s.replace("'lake/", "'%s/" % lake) for s in statements("DuckDB")]


def clickhouse():
    return statements("ClickHouse")


def asked():
    found = []
    for title, text in parts():
        if title in ("ClickHouse", "DuckDB"):
            continue
        said = {}
        for block in blocks(text):
            first, sql = block.split("\n", 1)
            said[first] = sql
        if set(said) != {"-- ClickHouse", "-- DuckDB"}:
            raise ValueError("%s: the page has %s" % (title, sorted(said)))
        found.append(Question(title, said["-- ClickHouse"], said["-- DuckDB"]))
    return found
