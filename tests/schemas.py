# schemas.py - the schemas of man/json, closed, for the tests that validate what --json prints.
"""A key that a schema does not have is an error here, which it is not for
others: a later release may add some."""

import glob
import json
import os
import sys

# The module is a package of Debian, which another python3 in PATH does not see.
sys.path.append("/usr/lib/python3/dist-packages")
try:
    import jsonschema
except ImportError:
    jsonschema = None


def closed(schema):
    if isinstance(schema, dict):
        schema = {k: closed(v) for k, v in schema.items()}
        if schema.get("properties"):
            schema.setdefault("additionalProperties", False)
    elif isinstance(schema, list):
        schema = [closed(v) for v in schema]
    return schema


def load(root):
    """A validator for each command; none without the module."""
    validators = {}
    for path in glob.glob(os.path.join(root, "man/json/*.json")) if jsonschema else []:
        with open(path, encoding="utf-8") as f:
            schema = json.load(f)
        jsonschema.Draft7Validator.check_schema(schema)
        validators[os.path.basename(path)[:-5]] = jsonschema.Draft7Validator(closed(schema))
    return validators


def keys(schema, path, needed=True):
    """What a schema promises of each key: COMMAND.KEY[].KEY TYPE, a constant, and whether it may be missing."""
    types = schema.get("type", [])
    types = sorted([types] if isinstance(types, str) else types)
    types += ["=" + json.dumps(schema["const"])] if "const" in schema else []
    types += ["ref:" + schema["$ref"]] if "$ref" in schema else []
    yield "%s %s%s" % (path, "|".join(types), "" if needed else " optional")
    for name, inner in schema.get("properties", {}).items():
        yield from keys(inner, path + "." + name, name in schema.get("required", ()))
    for name, inner in schema.get("definitions", {}).items():
        yield from keys(inner, path + "#" + name)
    if "items" in schema:
        yield from keys(schema["items"], path + "[]")


if __name__ == "__main__":
    for file in glob.glob(os.path.join(sys.argv[1], "man/json/*.json")):
        with open(file, encoding="utf-8") as opened:
            print("\n".join(keys(json.load(opened), os.path.basename(file)[:-5])))
