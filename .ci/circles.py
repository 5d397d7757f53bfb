"""Fails where the modules of a crate import each other in a circle, or folders within them do, so that a reader can begin at one that needs none of the others.
Run by `./check`.

A name that `lib.rs` or `mod.rs` exports counts as one of the module where it stands; what these files declare themselves belongs to the folder. Files of one folder may
know each other there, as a trait and what it is given.
"""

import collections
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = "#[cfg(test)]\nmod tests {"  # what tests import is of their file alone
START = re.compile(r"(?<![\w:])(?:crate|self|super)(?:::super)*::")
EXPORT = re.compile(r"^\s*pub(?:\([a-z: ]+\))? use (?!crate|super|self)([^;]+);", re.MULTILINE)


def leaves(tree):
    """Paths of a use tree such as `a::{B, c::D}`, each as a list of names."""
    head, brace, rest = tree.partition("{")
    names = re.findall(r"\w+|\*", head.split(" as ")[0])
    if not brace:
        return [names]
    parts, depth, part = [], 0, ""
    for letter in rest[: matching(rest)]:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts, part = [*parts, part], ""
        else:
            part += letter
    return [names + leaf for part in [*parts, part] if part.strip() for leaf in leaves(part)]


def matching(text):
    """Where the brace closes that stands open before a text."""
    depth = 1
    for at, letter in enumerate(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth == 0:
            return at
    return len(text)


def tree_at(text):
    """The use tree, or the path, at the beginning of a text."""
    path = re.match(r"(?:\w+::)*", text).group()
    rest = text[len(path) :]
    return path + (rest[: matching(rest[1:]) + 2] if rest.startswith("{") else re.match(r"\w*", rest).group())


def code(file):
    text = file.read_text().split(TESTS)[0]
    return "\n".join(line for line in text.splitlines() if not line.strip().startswith("//"))


class Crate:
    def __init__(self, source):
        self.source = source
        self.modules, self.exports = {}, collections.defaultdict(dict)
        for file in sorted(source.rglob("*.rs")):
            place = file.relative_to(source)
            is_of_tests = file.stem in ("tests", "testing") or file.stem.endswith("_tests") or "tests" in place.parts
            if not is_of_tests and place.parts[0] != "main.rs":
                name = place.parts[:-1] if file.name in ("mod.rs", "lib.rs") else (*place.parts[:-1], file.stem)
                self.modules[name] = code(file)
        for module, text in self.modules.items():
            for tree in EXPORT.findall(text):
                for leaf in leaves(tree):
                    self.exports[module][leaf[-1]] = leaf

    def owner(self, module, names, depth=0):
        """The module in which what a path names stands, seen from a module."""
        for place, name in enumerate(names):
            if (*module, name) in self.modules:
                module = (*module, name)
            elif name in self.exports[module] and depth < 9:
                return self.owner(module, self.exports[module][name] + names[place + 1 :], depth + 1)
            else:
                break
        return module

    def imports(self):
        for module, text in self.modules.items():
            for start in START.finditer(text):
                words = start.group().split("::")[:-1]
                base = () if words[0] == "crate" else module[: len(module) - words.count("super")]
                for leaf in leaves(tree_at(text[start.end() :])):
                    yield module, self.owner(base, leaf)

    def circles(self):
        edges = collections.defaultdict(lambda: collections.defaultdict(set))
        for one, other in self.imports():
            shared = next((at for at, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
            if shared < len(one) and shared < len(other):  # neither is the folder of the other
                edges[one[:shared]][one[shared]].add(other[shared])
        for folder, graph in sorted(edges.items()):
            for circle in components(graph):
                folders = [module for module in circle if self.source.joinpath(*folder, module).is_dir()]
                if not folder or len(folders) > 1:
                    yield folder, circle


def components(graph):
    """Groups of modules that reach each other."""
    reached = {module: reach(graph, module) for module in list(graph)}
    groups = {frozenset(other for other in there if module in reached.get(other, ())) for module, there in reached.items() if module in there}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def reach(graph, start):
    found, ahead = set(), [start]
    while ahead:
        new = graph.get(ahead.pop(), set()) - found
        found |= new
        ahead += new
    return found


def main():
    failures = []
    for manifest in sorted(ROOT.rglob("Cargo.toml")):
        source = manifest.parent / "src"
        if "target" not in manifest.relative_to(ROOT).parts and source.is_dir():
            for folder, circle in Crate(source).circles():
                failures.append(f"{source.relative_to(ROOT).joinpath(*folder)}: {', '.join(circle)}")
    if failures:
        sys.exit("\n".join(["modules import each other in a circle: move what they share into one of its own", *failures]))


main()
