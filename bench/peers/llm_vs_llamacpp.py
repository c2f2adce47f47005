#!/usr/bin/env python3
"""Compares `rml` with llama.cpp on the same GGUF files, and prints markdown.

Speeds on a shared machine drift, so the two are run in turn (A B A B …) and the ratio is the median of the ratios of
neighbouring runs. Above 1 means that rml is faster. Only the standard library is needed.

    llm_vs_llamacpp.py --rml build/release/bin/rml --llama-bench llama.cpp/build/bin/llama-bench \\
        --llama-completion llama.cpp/build/bin/llama-completion a.gguf b.gguf

Without --rml, or without --llama-bench, the other is measured alone.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROMPT_TOKENS, NEW_TOKENS = 512, 128
TESTS = (f"pp{PROMPT_TOKENS}", f"tg{NEW_TOKENS}")
PROMPT = "The capital of France is"


disturbed = []  # commands that did not get the processor time that their threads could have used


def run(command, threads):
    """Runs a command; returns (seconds, peak resident MB, stdout). Exits where it fails."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        if child.returncode:
            sys.exit(f"{' '.join(command)}: exit code {child.returncode}\n{err.read().decode(errors='replace')[-2000:]}")
        if usage.ru_utime + usage.ru_stime < 0.8 * threads * seconds:
            disturbed.append(command)
        return seconds, usage.ru_maxrss / 1024, out.read().decode(errors="replace")


def rml_speeds(binary, model, threads):
    """{test: tokens per second} of one run of `rml bench llm`."""
    _, _, text = run([binary, "bench", "llm", "--model", model, "-p", str(PROMPT_TOKENS), "-n", str(NEW_TOKENS),
                      "-t", str(threads), "-r", "1", "--json"], threads)
    rows = json.loads(text)
    rows = rows["rows"] if isinstance(rows, dict) else rows
    return {row["test"]: row["tokens_per_s"] for row in rows}


def llamacpp_speeds(binary, model, threads):
    """{test: tokens per second} of one run of llama-bench."""
    _, _, text = run([binary, "-m", model, "-p", str(PROMPT_TOKENS), "-n", str(NEW_TOKENS), "-t", str(threads), "-r", "1", "-o", "json"],
                     threads)
    return {f"pp{row['n_prompt']}" if row["n_prompt"] else f"tg{row['n_gen']}": row["avg_ts"] for row in json.loads(text)}


def rml_first_token(binary, model, threads):
    """(seconds, peak MB) of a process that loads the model and says one token."""
    return run([binary, "generate", "-m", model, "-p", PROMPT, "-n", "1", "--temp", "0", "-t", str(threads), "--json"], 0)[:2]


def llamacpp_first_token(binary, model, threads):
    """As above; the context is bounded, for by default llama.cpp clears a cache for all that the model can hold."""
    return run([binary, "-m", model, "-c", "4096", "-p", PROMPT, "-n", "1", "--temp", "0", "-t", str(threads), "-no-cnv", "--no-warmup"], 0)[:2]


def in_turn(sides, model, threads, rounds):
    """Runs each side once a round; returns {side: [result of each round]}."""
    results = {side: [] for side in sides}
    for i in range(rounds):
        print(f"{Path(model).name}, {threads} threads: round {i + 1} of {rounds}", file=sys.stderr)
        for side, (measure, binary) in sides.items():
            results[side].append(measure(binary, model, threads))
    return results


def paired_ratio(above, below):
    """Median of the ratios of neighbouring runs."""
    return statistics.median(a / b for a, b in zip(above, below))


def table(head, rows):
    """A markdown table."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1)] + rows
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def speed_report(args, sides):
    """Rows of the speed table, and the ratios by test."""
    rows, ratios = [], {test: [] for test in TESTS}
    for model in args.models:
        for threads in args.threads:
            results = in_turn(sides, model, threads, args.rounds)
            for test in TESTS:
                series = {side: [r[test] for r in runs] for side, runs in results.items()}
                cells = [f"{statistics.median(series[s]):.1f}" if s in series else "" for s in ("rml", "llama.cpp")]
                ratio = ""
                if len(series) == 2:
                    pairs = [a / b for a, b in zip(series["rml"], series["llama.cpp"])]
                    ratios[test].append(statistics.median(pairs))
                    ratio = f"{ratios[test][-1]:.2f} ({min(pairs):.2f}–{max(pairs):.2f})"
                rows.append([Path(model).stem, test, threads, *cells, ratio])
    return rows, ratios


def first_token_report(args, sides):
    """Rows of the table of start-up time and memory."""
    rows = []
    for model in args.models:
        for threads in args.threads:
            results = in_turn(sides, model, threads, args.rounds)
            cells = []
            for side in ("rml", "llama.cpp"):
                runs = results.get(side)
                cells.append([f"{statistics.median(r[0] for r in runs) * 1000:.0f}", f"{max(r[1] for r in runs):.0f}"] if runs else ["", ""])
            ratio = ["", ""]
            if len(results) == 2:
                ratio = [f"{paired_ratio([r[i] for r in results['llama.cpp']], [r[i] for r in results['rml']]):.2f}" for i in (0, 1)]
            rows.append([Path(model).stem, threads, cells[0][0], cells[1][0], ratio[0], cells[0][1], cells[1][1], ratio[1]])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="GGUF files")
    parser.add_argument("--rml")
    parser.add_argument("--llama-bench")
    parser.add_argument("--llama-completion")
    parser.add_argument("--threads", type=lambda text: [int(t) for t in text.split(",")], default=[1, 2], help="default: 1,2")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()

    sides = {side: pair for side, pair in {"rml": (rml_speeds, args.rml), "llama.cpp": (llamacpp_speeds, args.llama_bench)}.items() if pair[1]}
    if sides:
        rows, ratios = speed_report(args, sides)
        print("## Speed, tokens per second\n")
        print(table(["model", "test", "threads", "rml", "llama.cpp", "ratio (min–max)"], rows) + "\n")
        for name, values in [*ratios.items(), ("all", sum(ratios.values(), []))]:
            if values:
                print(f"Geometric mean, {name}: {math.exp(statistics.fmean(map(math.log, values))):.3f}×")
        print(f"\nMedians of {args.rounds} rounds run in turn; ratio = median of each round's rml / llama.cpp.")
        if disturbed:
            print(f"**Disturbed:** {len(disturbed)} runs got less than 80% of their threads' processor time; something else was busy.")
        print()

    sides = {side: pair for side, pair in {"rml": (rml_first_token, args.rml), "llama.cpp": (llamacpp_first_token, args.llama_completion)}.items() if pair[1]}
    if sides:
        print("## From start to first token, whole process\n")
        print(table(["model", "threads", "rml ms", "llama.cpp ms", "× faster", "rml MB", "llama.cpp MB", "× smaller"],
                    first_token_report(args, sides)))
        print("\nMedian time and highest peak resident memory (mapped file pages included); the file is in the page cache after the first round.")


if __name__ == "__main__":
    main()
