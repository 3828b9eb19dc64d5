"""A data-generation pipeline over SheafDB, with the official lance_context client, unmodified.

One root item per documented object of the standard library. Steps of a root: extract (json) → question (str) → fan out
one child item per `>>>` example → assemble (json) → terminal. Steps of a child: run (blob: the transcript; FAILED with
traceback when the example breaks, retried once) → grade (float, bool) → terminal.

Every step is a durable checkpoint. A killed worker goes on where the store says it was: `resume_stream` and the folded
item are its only memory. The journal beside it is not read on resume; it exists so that the demo can prove afterwards
that nothing acknowledged was lost and nothing finished was done again.

  python pipeline.py run --url http://127.0.0.1:3000 --store docs --journal DIR [--workers 4] [--numpy] [--limit N]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import lance_context

import corpus

HERE = pathlib.Path(__file__).resolve().parent
LEAF, DRIVER = "leaf", "map_reduce"
TRIES_MAX = 2
RUN_TIMEOUT_S = 10
CONFLICTS_MAX = 3


class Journal:
    """One line per executed step and per acknowledged checkpoint, for the proof. Appends survive kill -9."""

    def __init__(self, folder, worker):
        folder.mkdir(parents=True, exist_ok=True)
        self.file = os.open(folder / f"worker-{worker}.ndjson", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def line(self, **members):
        os.write(self.file, (json.dumps(members) + "\n").encode())


def value_field(name, kind, value, field_type):
    wire = {"kind": "blob", "bytes": value, "size": len(value)} if kind == "blob" else {"kind": kind, "value": value}
    return {"name": name, "field_type": field_type, "codec_version": 1, "op": "set", "value": wire}


def position(step, index=0, kind=LEAF):
    return {"step_name": step, "step_kind": kind, "index": index}


class Item:
    """One item's stream: opened or resumed, with the folded state from before this attempt."""

    def __init__(self, worker, item_id, parent=None, tags=None):
        self.worker, self.id = worker, item_id
        identity = {"run_id": worker.run_id, "writer_epoch": worker.epoch}
        self.folded = worker.store.fold_item(item_id)
        if self.folded is None:
            self.stream = worker.store.open_stream(item_id, parent_item_id=parent, query_tags=tags, **identity)
        elif self.done:
            self.stream = None
        else:
            self.stream = worker.store.resume_stream(item_id, **identity)

    @property
    def done(self):
        return self.folded is not None and self.folded["status"] in ("completed", "filtered")

    def value(self, field):
        """What a finished step left, or None."""
        known = (self.folded or {}).get("fields", {}).get(field)
        return known and known["value"].get("value")

    def has(self, field):
        return field in (self.folded or {}).get("fields", {})

    def checkpoint(self, step, index, fields, kind=LEAF):
        events = self.stream.step_completed(position(step, index, kind), fields)
        self.worker.store.append_checkpoint(events)
        self.acknowledged(events)

    def failed(self, step, index, error):
        event = self.stream.item_failed(position(step, index), error["error"], error_dump=error["got"],
                                        traceback=error["traceback"])
        self.worker.store.append([event])
        self.acknowledged([event])

    def terminal(self, outcome):
        event = self.stream.item_terminal(outcome)
        self.worker.store.append([event])
        self.acknowledged([event])

    def acknowledged(self, events):
        self.worker.journal.line(acked=[e["event_id"] for e in events], item=self.id)

    def executing(self, step, attempt=0):
        self.worker.journal.line(executed=step, item=self.id, attempt=attempt)


class Worker:
    def __init__(self, options, index):
        self.options, self.index = options, index
        self.run_id, self.epoch = options.run_id, f"{options.run_id}.{index}"
        self.journal = Journal(pathlib.Path(options.journal), index)
        self.store = None

    def connect(self):
        """Waits for the server, then opens this worker's own store object (one per worker: it can't be shared)."""
        while True:
            try:
                urllib.request.urlopen(f"{self.options.url}/api/v1/health", timeout=5).read()
                self.store = lance_context.DatagenStore.connect_or_create(self.options.url, self.options.store)
                return
            except (OSError, urllib.error.URLError, RuntimeError):
                time.sleep(0.1)  # the server is being restarted, or another worker created the store first

    def run(self, entries):
        self.connect()
        mine = entries[self.index :: self.options.workers]
        statuses = self.store.root_item_statuses([e["key"] for e in mine])
        for entry in mine:
            if statuses.get(entry["key"]) not in ("completed", "filtered"):
                self.until_done(entry)

    def until_done(self, entry):
        """Goes on with the item after every lost connection; the store knows how far it came.

        A conflict means that a killed predecessor's last request was applied after we had resumed: resume once more.
        """
        conflicts = 0
        while True:
            try:
                return self.root_item(entry)
            except lance_context.AlreadyExistsError:
                conflicts += 1
                if conflicts > CONFLICTS_MAX:
                    raise
            except (lance_context.InternalError, lance_context.NotFoundError) as error:
                self.journal.line(interrupted=entry["key"], error=str(error)[:200])
                self.connect()

    def root_item(self, entry):
        root = Item(self, entry["key"], tags={"module": entry["module"]})
        if root.done:
            return
        if not root.has("source"):
            root.executing("extract")
            source = {"module": entry["module"], "name": entry["name"], "line": entry["line"], "doc": entry["doc"],
                      "examples": entry["examples"]}
            root.checkpoint("extract", 0, [value_field("source", "json", source, "source.v1")])
        if not root.has("question"):
            root.executing("question")
            root.checkpoint("question", 1, [value_field("question", "str", question(entry), "text")])
        graded = [self.example_item(entry, index) for index in range(len(entry["examples"]))]
        if not root.has("sample"):
            root.executing("assemble")
            root.checkpoint("assemble", 3, [value_field("sample", "json", sample(entry, graded), "sample.v1")])
        root.terminal("completed" if any(passed for _, passed in graded) else "filtered")

    def example_item(self, entry, index):
        """One example: its transcript and whether it printed what the docstring says."""
        item_id = str(lance_context.DatagenItemId.parse(entry["key"]).child("example", index))
        child = Item(self, item_id, parent=entry["key"])
        if not child.has("transcript"):
            transcript = self.transcript(child, entry, index)
        else:
            transcript = self.store.load_blob(child.folded, "transcript").decode()
        if child.has("score"):
            score, passed = child.value("score"), child.value("passed")
        else:
            child.executing("grade")
            score, passed = grade(transcript, entry["examples"][index]["want"])
            child.checkpoint("grade", 1, [value_field("score", "float", score, "score"), value_field("passed", "bool", passed, "flag")])
        if not child.done:
            child.terminal("completed" if passed else "filtered")
        return transcript, passed

    def transcript(self, child, entry, index):
        """Runs the example; a break is recorded as FAILED and tried once more before its transcript stands."""
        tries = len(self.store.item_failures(child.id)) if child.folded else 0
        expected_error = "Traceback" in entry["examples"][index]["want"]
        while True:
            child.executing("run", tries)
            result = run_example(entry, index)
            tries += 1
            if result["error"] is None or expected_error or tries >= TRIES_MAX:
                break
            child.failed("run", 0, result)
        child.checkpoint("run", 0, [value_field("transcript", "blob", result["transcript"].encode(), "text/plain")])
        return result["transcript"]


def question(entry):
    first = entry["doc"].strip().split("\n\n")[0].replace("\n", " ").strip()
    return f"What does `{entry['key']}` of Python's standard library do? Show it on {len(entry['examples'])} example(s). Hint: {first}"


def grade(transcript, want):
    """(score, passed): share of the wanted lines that were printed, in order."""
    if "Traceback" in want:
        last = want.strip().split("\n")[-1].split(":")[0]
        return (1.0, True) if last in transcript else (0.0, False)
    wanted = want.strip().split("\n") if want.strip() else []
    printed = transcript.split("\n")
    matched = sum(line in printed for line in wanted)
    score = matched / len(wanted) if wanted else 1.0
    return score, score == 1.0


def sample(entry, graded):
    """The training sample a finished root is worth."""
    answer = "\n".join(transcript for transcript, passed in graded if passed)
    return {"messages": [{"role": "user", "content": question(entry)}, {"role": "assistant", "content": answer}],
            "passed": sum(passed for _, passed in graded), "examples": len(graded)}


def run_example(entry, index):
    """In a process of its own, in an empty folder, with a time limit."""
    job = json.dumps({"module": entry["module"], "examples": entry["examples"], "index": index})
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run([sys.executable, "-I", "-S", "-B", str(HERE / "run_example.py")], input=job.encode(), cwd=folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=RUN_TIMEOUT_S, check=False)
            return json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            return broken("TimeoutError", f"no answer after {RUN_TIMEOUT_S} s")
        except ValueError:
            return broken("RunnerError", done.stderr.decode(errors="replace")[-2000:])


def broken(name, text):
    return {"transcript": f"{name}: {text}", "got": f"{name}: {text}", "error": name, "traceback": text}


def coordinate(options):
    """Starts the workers and reports progress until all have ended; exit code 1 if one broke."""
    command = [sys.executable, __file__, "worker", *sys.argv[2:]]
    workers = [subprocess.Popen([*command, "--index", str(i), "--run-id", options.run_id]) for i in range(options.workers)]
    url = f"{options.url}/api/v1/datagen/{options.store}/overview"
    started = time.monotonic()
    while any(w.poll() is None for w in workers):
        try:
            counts = json.load(urllib.request.urlopen(url, timeout=5))
            report(counts, options.total, started, end="")
        except (OSError, ValueError):
            pass  # the server is down: the workers wait for it, and so does the progress line
        time.sleep(0.5)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return 1 if any(w.returncode for w in workers) else 0


def report(counts, total, started, end="\n"):
    done = counts["completed"] + counts["filtered"]
    elapsed = time.monotonic() - started
    text = (f"  {done}/{total} objects done, {counts['running']} running, {counts['failures']} failures, "
            f"{sum(counts.get('completed_steps', {}).values())} steps, {elapsed:.0f} s")
    print(("\r" + text if sys.stderr.isatty() else text), end=end if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("role", choices=["run", "worker"])
    parser.add_argument("--url", required=True)
    parser.add_argument("--store", required=True)
    parser.add_argument("--journal", required=True, help="folder for the proof's journals")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--numpy", action="store_true", help="also numpy's docstrings (numpy must be installed)")
    parser.add_argument("--limit", type=int, help="only the first N objects")
    parser.add_argument("--index", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--run-id", default=f"run-{int(time.time() * 1000)}")
    options = parser.parse_args()
    entries = corpus.load(options.numpy, options.limit)
    options.total = len(entries)
    if options.role == "run":
        sys.exit(coordinate(options))
    Worker(options, options.index).run(entries)


if __name__ == "__main__":
    main()
