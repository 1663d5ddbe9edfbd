"""Measures countersign beside spec-runner, in projects of its own: wall time, CPU time and memory, one table.

Called by `cargo xtask compare` with the two programs. Standard library only. Nothing here fails because of a time.
"""

import json
import os
import pty
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TASKS = 20
LISTED = 10_000
TRIES = 3
REVIEWS = [0, 1, 10, 50]

AGENT = """#!/bin/sh
case "$*" in *TASK-*) text=$*;; *) text=$(cat);; esac
task=${text#*TASK-}
echo done >"TASK-${task%%[!0-9]*}.txt"
echo TASK_COMPLETE
"""
TEXT_REVIEWER = "#!/bin/sh\necho REVIEW_PASSED\n"
REPLY = '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}]}'
RULES = """version: 1
reviewers: [{name: program, use: command, command: [cat, '%s']}]
rules: [{name: all, for: ['**'], criteria: [{name: Complete, ask: Is it complete?}]}]
"""
JOB = """name: pages
version: "1.0.0"
summary: s
common_job_info_provided_to_all_steps_at_runtime: i
steps:
  - {id: s, name: s, description: d, instructions_file: do.md,
     outputs: {pages: {type: files, description: d, required: true}}, reviews: [%s]}
"""
REVIEW = "{run_each: pages, additional_review_guidance: g, quality_criteria: {Complete: Is it complete?}}"


class Place:
    """A temporary project and an empty home."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="compare-")
        self.root = Path(self.folder.name) / "project"
        self.home = Path(self.folder.name) / "home"
        self.root.mkdir()
        self.home.mkdir()
        self.more = {}

    def write(self, name, text, mode=0o644):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def judge(self):
        """A reviewer that passes everything. Its reply is outside of what is judged."""
        reply = Path(self.folder.name) / "reply.json"
        reply.write_text(REPLY)
        self.write("countersign.yml", RULES % reply)

    def environment(self):
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **self.more}

    def trust(self, ours):
        """Says for the person who started this that the rules of the project count: that takes a terminal."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.root)
            os.execve(ours, [ours, "trust", "--yes"], self.environment())
        said = b""
        while True:
            try:
                piece = os.read(terminal, 4096)
            except OSError:
                break
            if not piece:
                break
            said += piece
        os.close(terminal)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
            raise SystemExit(f"the project could not be trusted:\n{said.decode()}")

    def start(self, words, said):
        nothing = subprocess.DEVNULL
        environment = self.environment()
        return subprocess.Popen(words, cwd=self.root, env=environment, stdin=nothing, stdout=said, stderr=said)

    def run(self, words):
        """Runs a command to its end: wall seconds, CPU seconds with all processes below it, peak bytes of its own."""
        with tempfile.TemporaryFile() as said:
            began = time.perf_counter()
            process = self.start(words, said)
            over = threading.Event()
            peaks = []
            watching = threading.Thread(target=watch, args=(process.pid, over, peaks))
            watching.start()
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - began
            over.set()
            watching.join()
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                said.seek(0)
                raise SystemExit(f"{words} ended with {process.returncode}:\n{said.read().decode()[-4000:]}")
        return wall, used.ru_utime + used.ru_stime, max(peaks, default=0)

    def peak(self, words):
        """The peak bytes of a command too quick to be watched: it waits, because nobody reads what it prints."""
        read, write = os.pipe()
        os.set_blocking(write, False)
        try:
            while True:
                os.write(write, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(write, True)
        process = self.start(words, write)
        os.close(write)
        used, still = None, 0
        while still < 20:
            now = ticks(process.pid)
            still = still + 1 if now == used else 0
            used = now
            time.sleep(0.05)
        peak = high_water(process.pid)
        with os.fdopen(read, "rb") as pipe:
            pipe.read()
        process.wait()
        return peak


def high_water(pid):
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0].split()[1]) * 1024 if lines else 0


def watch(pid, over, peaks):
    while not over.wait(0.01):
        peaks.append(high_water(pid))


def ticks(pid):
    """CPU time of a process and of its children that have ended, in clock ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(int(ticks) for ticks in fields[11:15])


def tasks(count):
    return "# Tasks\n" + "".join(f"\n### TASK-{n:05}: Write page {n}\nP1 | TODO\n" for n in range(1, count + 1))


def repository(count):
    place = Place()
    place.write("agent.sh", AGENT, 0o755)
    place.write("review.sh", TEXT_REVIEWER, 0o755)
    place.judge()
    place.write("spec/tasks.md", tasks(count))
    place.write(".gitignore", "spec/.*\n.countersign/\n")
    root = place.root
    settings = f"claude_command: {root}/agent.sh\nreview_command: {root}/review.sh\nretry_delay_seconds: 0\n"
    place.write("spec-runner.config.yaml", settings + "commands: {test: 'true', lint: 'true'}\n")
    for words in [
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "Test"],
        ["config", "user.email", "test@example.invalid"],
        ["add", "-A"],
        ["commit", "-q", "-m", "begin"],
    ]:
        subprocess.run(["git", *words], cwd=root, check=True)
    return place


def counting_git(place):
    """A folder in which each process of git leaves a file about itself."""
    folder = Path(place.folder.name) / "git"
    folder.mkdir()
    place.more = {"GIT_TRACE2_EVENT": str(folder)}
    return folder


def merged(place):
    said = subprocess.run(["git", "ls-tree", "--name-only", "main"], cwd=place.root, capture_output=True, text=True)
    return sum(name.startswith("TASK-") for name in said.stdout.split())


def listed():
    """A list that was worked on, with a state database of the form that both read."""
    place = Place()
    place.write("spec/tasks.md", tasks(LISTED).replace("TODO", "DONE"))
    database = sqlite3.connect(place.root / "spec/.executor-state.db")
    database.executescript(
        """CREATE TABLE tasks (task_id TEXT PRIMARY KEY, status TEXT NOT NULL DEFAULT 'pending', started_at TEXT,
             completed_at TEXT);
           CREATE TABLE attempts (id INTEGER PRIMARY KEY AUTOINCREMENT, task_id TEXT NOT NULL REFERENCES tasks(task_id),
             timestamp TEXT NOT NULL, success INTEGER NOT NULL, duration_seconds REAL NOT NULL, error TEXT,
             error_code TEXT, claude_output TEXT, input_tokens INTEGER, output_tokens INTEGER, cost_usd REAL,
             review_status TEXT, review_findings TEXT);
           CREATE TABLE executor_meta (key TEXT PRIMARY KEY, value TEXT);"""
    )
    ids = [f"TASK-{n:05}" for n in range(1, LISTED + 1)]
    at = "2026-02-23T10:15:00"
    database.executemany("INSERT INTO tasks VALUES (?, 'success', ?, ?)", [(task, at, at) for task in ids])
    rows = [
        (task, at, int(n == TRIES), None if n == TRIES else "TEST_FAILURE", "passed" if n == TRIES else None)
        for task in ids
        for n in range(1, TRIES + 1)
    ]
    database.executemany(
        "INSERT INTO attempts (task_id, timestamp, success, duration_seconds, error_code, cost_usd, review_status) "
        "VALUES (?, ?, ?, 1.5, ?, 0.25, ?)",
        rows,
    )
    database.commit()
    database.close()
    return place


class Server:
    """The MCP server of countersign, spoken to in lines."""

    def __init__(self, ours, place):
        words = [ours, "mcp", "--external-runner", "program"]
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            words, cwd=place.root, env=place.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "compare", "version": "1"}}
        self.ask("initialize", hello)
        self.first = time.perf_counter() - self.began

    def ask(self, method, parameters):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if "id" in answer:
                return answer

    def call(self, tool, arguments):
        return json.dumps(self.ask("tools/call", {"name": tool, "arguments": arguments}))

    def cpu(self):
        return ticks(self.process.pid) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def finished_step(ours, reviews):
    """One step whose files are reviewed one by one by `cat`: start of the server, wall and CPU of the call."""
    place = Place()
    place.judge()
    place.write(".deepwork/jobs/pages/do.md", "Do it.\n")
    place.write(".deepwork/jobs/pages/job.yml", JOB % (REVIEW if reviews else ""))
    pages = [f"docs/page-{n:03}.md" for n in range(max(reviews, 1))]
    for page in pages:
        place.write(page, f"# {page}\n\n" + "A line that says something about it.\n" * 20)
    place.trust(ours)
    server = Server(ours, place)
    begun = server.call("start_workflow", {"goal": "g", "job_name": "pages", "workflow_name": "w"})
    if "begin_step" not in begun:
        raise SystemExit(f"the workflow did not start: {begun}")
    before, began = server.cpu(), time.perf_counter()
    answer = server.call("finished_step", {"outputs": {"pages": pages}})
    wall, cpu = time.perf_counter() - began, server.cpu() - before
    if "workflow_complete" not in answer:
        raise SystemExit(f"the step did not pass: {answer}")
    server.end()
    return server.first, wall, cpu


def milliseconds(seconds):
    return f"{seconds * 1000:.1f} ms" if seconds < 10 else f"{seconds:.1f} s"


def megabytes(number):
    return f"{number / 1e6:.1f} MB"


def ratio(theirs, ours):
    return f"{theirs / ours:.1f}" if ours else "-"


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def both(figure, measures, peaks=None):
    """Rows of wall, CPU and memory: medians of what was measured, ours and theirs in turn."""
    medians = [[statistics.median(values) for values in zip(*measured)] for measured in measures]
    for median, peak in zip(medians, peaks or []):
        median[2] = peak
    for at, (name, shown) in enumerate([("wall", milliseconds), ("CPU", milliseconds), ("memory", megabytes)]):
        ours, theirs = (median[at] for median in medians)
        row(f"{figure}, {name}", shown(ours), shown(theirs), ratio(theirs, ours))


def main():
    ours, folder, quick = sys.argv[1], Path(sys.argv[2]), "--quick" in sys.argv[3:]
    # By the interpreter: the script remembers the folder that it was installed in.
    theirs = [str(folder / "python"), str(folder / "spec-runner")]
    programs = ([ours], theirs)
    runs = 3 if quick else 15
    row("figure", "countersign", "spec-runner", "ratio")
    row("---", "---", "---", "---")
    for word in ["--version", "--help"]:
        place = Place()
        turns = [[place.run([*program, word]) for program in programs] for _ in range(runs)]
        both(f"`{word}`", list(zip(*turns)), [place.peak([*program, word]) for program in programs])
    measures, calls = [], []
    for program in programs:
        place = repository(TASKS)
        if program == [ours]:
            place.trust(ours)
        measures.append([place.run([*program, "run", "--all"])])
        if merged(place) != TASKS:
            raise SystemExit(f"{program} merged {merged(place)} of {TASKS} tasks")
        place = repository(TASKS)
        if program == [ours]:
            place.trust(ours)
        counted = counting_git(place)
        place.run([*program, "run", "--all"])
        calls.append(len(list(counted.iterdir())))
    both(f"{TASKS} tasks with an instant agent and reviewer", measures)
    row(f"processes of git for {TASKS} tasks", str(calls[0]), str(calls[1]), ratio(calls[1], calls[0]))
    place = listed()
    turns = [[place.run([*program, "status"]) for program in programs] for _ in range(3 if quick else 7)]
    peaks = [place.peak([*program, "status"]) for program in programs]
    both(f"`status` on {LISTED} tasks and {LISTED * TRIES} attempts", list(zip(*turns)), peaks)
    print()
    row("jobs, countersign alone", "wall", "CPU")
    row("---", "---", "---")
    firsts = []
    for reviews in REVIEWS:
        steps = [finished_step(ours, reviews) for _ in range(3 if quick else 7)]
        firsts.extend(first for first, _, _ in steps)
        wall, cpu = (statistics.median(values) for values in zip(*[step[1:] for step in steps]))
        row(f"`finished_step` with {reviews} instant reviews", milliseconds(wall), milliseconds(cpu))
    row("MCP server, start to first answer", milliseconds(statistics.median(firsts)), "")


main()
