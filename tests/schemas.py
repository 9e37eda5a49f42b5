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
