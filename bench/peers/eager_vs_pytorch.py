#!/usr/bin/env python3
"""Compares what calling a small operator costs beside its kernel, in rml and in PyTorch, and prints markdown.

The two are run in turn, one thread each, in processor time; the ratio is the median of the ratios of neighbouring
rounds. The kernel (16 additions) is rml's for both: what PyTorch's own takes cannot be seen from outside, and a few
nanoseconds more or less do not matter. Below 1 means that rml's call is the lighter one. Needs torch.

    eager_vs_pytorch.py --bench build/release/bin/eager_bench
"""

import argparse
import json
import statistics
import subprocess
import time

import torch

CALLS = 200_000


def rml_times(bench):
    """{benchmark: nanoseconds of processor time}"""
    text = subprocess.run([bench, "--benchmark_filter=Add", "--benchmark_format=json"], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return {row["name"]: row["cpu_time"] for row in json.loads(text)["benchmarks"]}


def torch_time(a, b):
    add = torch.add
    start = time.process_time_ns()
    for _ in range(CALLS):
        add(a, b)
    return (time.process_time_ns() - start) / CALLS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True, help="rml's eager_bench")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    torch.set_num_threads(1)
    a, b = torch.ones(16), torch.ones(16)
    leaf = torch.ones(16, requires_grad=True)
    torch_time(a, b), torch_time(leaf, b)

    rows = {"add": [], "add, recorded for a gradient": []}
    for _ in range(options.rounds):
        ours = rml_times(options.bench)
        kernel = ours["KernelAdd"]
        rows["add"].append((ours["EagerAdd"] - kernel, torch_time(a, b) - kernel))
        rows["add, recorded for a gradient"].append((ours["EagerAddWithGradient"] - kernel, torch_time(leaf, b) - kernel))
    print(f"PyTorch {torch.__version__}; nanoseconds over the kernel, medians of {options.rounds} rounds\n")
    print("| call | rml | PyTorch | rml / PyTorch (min–max) |\n| --- | ---: | ---: | ---: |")
    for name, times in rows.items():
        ratios = sorted(ours / theirs for ours, theirs in times)
        print(f"| {name} | {statistics.median(t[0] for t in times):.0f} | {statistics.median(t[1] for t in times):.0f} "
              f"| {statistics.median(ratios):.2f} ({ratios[0]:.2f}–{ratios[-1]:.2f}) |")


if __name__ == "__main__":
    main()
