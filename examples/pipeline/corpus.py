"""The pipeline's real input: documented objects of Python's standard library whose docstrings hold `>>>` examples.

Sources are parsed, never imported. One entry per object: {"key", "module", "name", "line", "doc", "examples"}, sorted by
key; `key` is the root item id ("collections.Counter.most_common") and never contains "/".
"""

import ast
import doctest
import pathlib
import sysconfig

# Examples of these talk to the network, a terminal or other machines; the runner would refuse them anyway.
SKIPPED = {"test", "idlelib", "lib2to3", "site-packages", "dist-packages", "asyncio", "http", "urllib",
           "xmlrpc", "ftplib", "smtplib", "imaplib", "nntplib", "poplib", "telnetlib", "socketserver", "ssl", "webbrowser",
           "__pycache__", "ensurepip", "pydoc_data", "turtledemo"}


def documented_objects(root, package=""):
    """Yields an entry per docstring with examples below the folder `root`."""
    parser = doctest.DocTestParser()
    for path in sorted(pathlib.Path(root).rglob("*.py")):
        relative = path.relative_to(root)
        if any(part in SKIPPED or part.removesuffix(".py") in SKIPPED for part in relative.parts):
            continue
        module = ".".join((package, *relative.with_suffix("").parts)).strip(".").removesuffix(".__init__")
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for name, line, doc in docstrings(tree, ""):
            try:
                examples = parser.get_examples(doc)
            except ValueError:
                continue
            if examples:
                yield {"key": f"{module}.{name}" if name else module, "module": module, "name": name, "line": line, "doc": doc,
                       "examples": [{"source": e.source, "want": e.want} for e in examples]}


def docstrings(node, prefix):
    """Depth-first (qualified name, line, docstring) of a module and what it defines."""
    doc = ast.get_docstring(node)
    if doc and ">>>" in doc:
        yield prefix, getattr(node, "lineno", 1), doc
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from docstrings(child, f"{prefix}.{child.name}" if prefix else child.name)


def load(with_numpy=False, limit=None):
    """The corpus, one entry per key (the first definition wins), in key order."""
    found = {}
    for entry in documented_objects(sysconfig.get_paths()["stdlib"]):
        found.setdefault(entry["key"], entry)
    if with_numpy:
        import numpy
        for entry in documented_objects(pathlib.Path(numpy.__file__).parent, "numpy"):
            found.setdefault(entry["key"], entry)
    entries = [found[key] for key in sorted(found)]
    return entries[:limit] if limit else entries


if __name__ == "__main__":
    corpus = load()
    print(len(corpus), "objects,", sum(len(e["examples"]) for e in corpus), "examples")
