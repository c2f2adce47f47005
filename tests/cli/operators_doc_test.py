"""Fails when docs/operators.md is not what `rml ops list --markdown` prints.

usage: operators_doc_test.py RML DOC
"""
import difflib
import subprocess
import sys
from pathlib import Path

rml, doc = sys.argv[1:]
printed = subprocess.run([rml, "ops", "list", "--markdown"], capture_output=True, text=True, check=True).stdout
kept = Path(doc).read_text(encoding="utf-8")
if printed != kept:
    sys.stdout.writelines(list(difflib.unified_diff(kept.splitlines(True), printed.splitlines(True), doc, "printed"))[:40])
    sys.exit(f"{doc} is out of date; write it anew: rml ops list --markdown > docs/operators.md")
