"""Look after the shelves from the command line."""

import argparse
import json
import pathlib


def load_shelf(path):
    """Read a shelf from its JSON file."""
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def save_shelf(path, shelf):
    """Write a shelf to its JSON file."""
    pathlib.Path(path).write_text(json.dumps(shelf, indent=2), encoding="utf-8")


def cmd_add(args):
    """Put an item on a shelf."""
    shelf = load_shelf(args.file)
    shelf[args.name] = {"count": args.count}
    save_shelf(args.file, shelf)
    return 0


def cmd_remove(args):
    """Take an item off a shelf."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    commands = parser.add_subparsers(required=True)
    add = commands.add_parser("add", help=cmd_add.__doc__)
    add.add_argument("name")
    add.add_argument("--count", type=int, default=1)
    add.set_defaults(run=cmd_add)
    args = parser.parse_args()
    return args.run(args)
