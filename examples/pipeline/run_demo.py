"""The whole story in one go: serve, run the pipeline with 4 workers, kill -9 the server once and the pipeline once,
restart both, finish, merge, and read the base table with pylance and DuckDB.

  python run_demo.py --sheaf build/release/bin/sheaf [--folder demo-data] [--numpy] [--limit N]

Exits with 1 if an acknowledged checkpoint is missing or doubled, or a finished step was executed again.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
STORE = "docs"
WORKERS = 4


def say(text):
    print(f"\n== {text}", flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(url):
    return json.load(urllib.request.urlopen(url, timeout=10))


def start_server(options):
    log = open(options.folder / "server.log", "a")
    server = subprocess.Popen([options.sheaf, "serve", "--host", "127.0.0.1", "--port", str(options.port), "--data-dir",
                               str(options.folder / "data")], stdout=log, stderr=log)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if server.poll() is not None:
            sys.exit(f"sheaf serve ended with {server.returncode}; see {options.folder / 'server.log'}")
        try:
            get(f"{options.url}/api/v1/health")
            return server
        except OSError:
            time.sleep(0.02)
    sys.exit("sheaf serve did not answer within 30 s")


def start_pipeline(options):
    command = [sys.executable, str(HERE / "pipeline.py"), "run", "--url", options.url, "--store", STORE, "--journal",
               str(options.folder / "journal"), "--workers", str(WORKERS)]
    command += ["--numpy"] if options.numpy else []
    command += ["--limit", str(options.limit)] if options.limit else []
    return subprocess.Popen(command, start_new_session=True)  # its own group: one kill -9 takes all of it


def wait_for_progress(options, pipeline, roots_done):
    """Returns when that many root items are finished, or the pipeline has ended."""
    while pipeline.poll() is None:
        try:
            counts = get(f"{options.url}/api/v1/datagen/{STORE}/overview")
            if counts["completed"] + counts["filtered"] >= roots_done:
                return
        except OSError:
            pass  # no store yet
        time.sleep(0.1)


def run_with_kills(options, total):
    server = start_server(options)
    say(f"pipeline: {total} objects, {WORKERS} workers, server on {options.url}")
    pipeline = start_pipeline(options)

    wait_for_progress(options, pipeline, total // 4)
    say("kill -9 the server; restart it; the workers go on")
    server.kill()
    server.wait()
    server = start_server(options)

    wait_for_progress(options, pipeline, total // 2)
    say("kill -9 the pipeline, all workers; start it again")
    os.killpg(pipeline.pid, signal.SIGKILL)
    pipeline.wait()
    pipeline = start_pipeline(options)
    if pipeline.wait() != 0:
        sys.exit("the pipeline failed")
    return server


def read_journal(folder):
    """(acknowledged event ids, executions by (item, step, attempt) in order, each True once acknowledged)."""
    acknowledged, executed = [], collections.defaultdict(list)
    for path in sorted(folder.glob("worker-*.ndjson")):
        open_step = None
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            if "executed" in entry:
                open_step = (entry["item"], entry["executed"], entry["attempt"])
                executed[open_step].append(False)
            elif "acked" in entry:
                acknowledged += entry["acked"]
                if open_step and open_step[0] == entry["item"]:
                    executed[open_step][-1] = True
                    open_step = None
    return acknowledged, executed


def merge(options):
    subprocess.run([options.sheaf, "merge", STORE, "--server", options.url], check=True)


def check(options, table, acknowledged, executed):
    """Prints what was found; returns the number of broken promises."""
    import duckdb
    found = collections.Counter(table.column("event_id").to_pylist())
    lost = [e for e in acknowledged if e not in found]
    doubled = [e for e, n in found.items() if n > 1]
    repeats = {step: acks for step, acks in executed.items() if len(acks) > 1}
    finished_again = [step for step, acks in repeats.items() if any(acks[:-1])]

    say("what the base table holds (pylance, DuckDB)")
    print("items by status:", get(f"{options.url}/api/v1/datagen/{STORE}/overview"))
    print(f"checkpointed events acknowledged: {len(acknowledged)}, found: {len(acknowledged) - len(lost)}, "
          f"lost: {len(lost)}, stored twice: {len(doubled)}")
    print(f"steps executed twice: {len(repeats)} in flight at a kill (at most {2 * WORKERS}), "
          f"{len(finished_again)} beyond those")
    print(duckdb.sql("SELECT event_type, count(*) AS rows FROM table GROUP BY 1 ORDER BY 2 DESC"))
    print(duckdb.sql("SELECT error_type, count(*) AS failures FROM table WHERE event_type = 'FAILED' GROUP BY 1 ORDER BY 2 DESC LIMIT 5"))
    sample = duckdb.sql("SELECT item_id, value_json FROM table WHERE field_name = 'sample' AND value_json LIKE '%\"passed\":%' "
                        "ORDER BY length(value_json) LIMIT 1 OFFSET 40").fetchone()
    if sample:
        print("one finished sample:", sample[0])
        print(json.dumps(json.loads(sample[1]), indent=2))
    return len(lost) + len(doubled) + len(finished_again) + max(0, len(repeats) - 2 * WORKERS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sheaf", required=True, help="the sheaf binary")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("demo-data"), help="emptied first")
    parser.add_argument("--numpy", action="store_true")
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    import corpus
    import lance

    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    options.port = free_port()
    options.url = f"http://127.0.0.1:{options.port}"
    started = time.monotonic()
    server = run_with_kills(options, len(corpus.load(options.numpy, options.limit)))
    say("merge the generations into the base table")
    merge(options)
    dataset = lance.dataset(str(options.folder / "data" / f"{STORE}.datagen.lance"))
    dataset.validate()
    acknowledged, executed = read_journal(options.folder / "journal")
    broken = check(options, dataset.to_table(), acknowledged, executed)
    server.send_signal(signal.SIGTERM)
    code = server.wait(timeout=30)
    say(f"{'FAILED' if broken or code else 'done'}: server stopped with {code}, {time.monotonic() - started:.0f} s in all; "
        f"the table is {options.folder / 'data'}/{STORE}.datagen.lance, version {dataset.version}")
    sys.exit(1 if broken or code else 0)


if __name__ == "__main__":
    main()
