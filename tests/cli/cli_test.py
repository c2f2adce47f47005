"""Runs the `rml` command on the cases of cases.json and checks what it says and how it ends.

usage: cli_test.py RML TESTDATA

A case: `args` ({testdata} and {tmp} are filled in), optional `stdin` and `env`, then what is expected:
`code`, `stdout` / `stderr` (texts that must occur), `json` (keys that the JSON on stdout must have, with
values unless null), `absent` (texts that must not occur in either). stderr of a failure is one line.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def check_json(expected, text):
    """Complaints about the JSON on stdout: of an object, or of each row of an array."""
    try:
        value = json.loads(text)
    except ValueError as error:
        return [f"stdout is no JSON: {error}"]
    rows = value if isinstance(value, list) else [value]
    complaints = [] if rows else ["the array is empty"]
    for row in rows:
        for key, wanted in expected.items():
            if key not in row:
                complaints.append(f"key {key!r} is missing")
            elif wanted is not None and row[key] != wanted:
                complaints.append(f"{key} is {row[key]!r}, expected {wanted!r}")
    return complaints


def run_case(case, rml, testdata, folder):
    """Runs one case; returns what was wrong."""
    fill = lambda text: text.replace("{testdata}", testdata).replace("{tmp}", folder)
    environment = dict(os.environ, XDG_CACHE_HOME=folder + "/cache", **case.get("env", {}))
    done = subprocess.run([rml, *map(fill, case["args"])], input=case.get("stdin", "").encode(),
                          capture_output=True, env=environment, timeout=300)
    stdout, stderr = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    complaints = []
    if done.returncode != case["code"]:
        complaints.append(f"exit code {done.returncode}, expected {case['code']}")
    for name, text in (("stdout", stdout), ("stderr", stderr)):
        complaints += [f"{name} lacks {wanted!r}" for wanted in case.get(name, []) if fill(wanted) not in text]
        complaints += [f"{name} has {bad!r}" for bad in case.get("absent", []) if bad in text]
    if case["code"] != 0 and "one_line" not in case and len(stderr.strip().splitlines()) != 1:
        complaints.append("a failure should be one line on stderr")
    if "json" in case:
        complaints += check_json(case["json"], stdout)
    if complaints:
        complaints.append(f"  stdout: {stdout[-400:]!r}\n  stderr: {stderr[-400:]!r}")
    return complaints


def main():
    rml, testdata = sys.argv[1:]
    cases = json.loads((Path(__file__).parent / "cases.json").read_text())
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "empty.gguf").touch()
        Path(folder, "garbage.gguf").write_bytes(b"not a model at all" * 10)
        model = Path(testdata, "stories260k.gguf").read_bytes()
        Path(folder, "truncated.gguf").write_bytes(model[: len(model) // 2])
        Path(folder, "bad.jinja").write_text("{% for x in %}")
        Path(folder, "refuses.jinja").write_text("{{ raise_exception('no thanks') }}")
        Path(folder, "prompt.txt").write_text("Once upon a time")
        for case in cases:
            complaints = run_case(case, rml, testdata, folder)
            failed += bool(complaints)
            if complaints:
                print(f"FAILED {case['name']}\n  " + "\n  ".join(complaints))
        with open("/dev/full", "wb") as full:  # a disk without room
            done = subprocess.run([rml, "generate", "-p", "Once", "-n", "5"], stdout=full, stderr=subprocess.PIPE)
            if done.returncode != 1 or b"standard output" not in done.stderr:
                failed += 1
                print(f"FAILED a full standard output is an error: {done.returncode} {done.stderr!r}")
        left = [path.name for path in Path(folder).rglob("*") if ".partial" in path.name or path.name.endswith(".tmp")]
        if left:
            failed += 1
            print(f"FAILED half-written files were left behind: {left}")
    print(f"{len(cases) + 2 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
