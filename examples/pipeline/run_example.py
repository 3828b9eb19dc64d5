"""Runs one docstring example in this process and prints its transcript; the pipeline starts one process per example.

Standard input: JSON {"module", "examples": [{"source", "want"}, …], "index"}. The examples before `index` run first,
silently, for the names they define. Standard output: JSON {"transcript", "got", "error", "traceback"}.
Network and child processes are refused by an audit hook.
"""

import contextlib
import importlib
import io
import json
import sys
import traceback

REFUSED = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.bind", "subprocess.Popen", "os.system",
           "os.exec", "os.fork", "os.posix_spawn", "webbrowser.open", "os.kill", "shutil.rmtree")


def refuse(event, _arguments):
    if event in REFUSED:
        raise PermissionError(f"{event} is not allowed in an example")


def namespace_of(module):
    """What a reader of the docstring has at hand: the module's own names."""
    names = {"__name__": "__example__"}
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
        names |= {k: v for k, v in vars(importlib.import_module(module)).items() if not k.startswith("__")}
    return names


def run(source, names):
    """Executes like the interactive prompt: the value of an expression is echoed. Returns what was printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, "<example>", "single"), names)
    return out.getvalue()


def main():
    job = json.load(sys.stdin)
    sys.addaudithook(refuse)
    names = namespace_of(job["module"])
    for example in job["examples"][: job["index"]]:
        with contextlib.suppress(Exception):
            run(example["source"], names)
    source = job["examples"][job["index"]]["source"]
    result = {"got": "", "error": None, "traceback": None}
    try:
        result["got"] = run(source, names)
    except BaseException as error:
        result["error"] = type(error).__name__
        result["got"] = "".join(traceback.format_exception_only(error))
        result["traceback"] = traceback.format_exc()
    lines = source.rstrip("\n").split("\n")
    prompt = "\n".join((">>> " if i == 0 else "... ") + line for i, line in enumerate(lines))
    result["transcript"] = f"{prompt}\n{result['got']}"
    json.dump(result, sys.__stdout__)


main()
