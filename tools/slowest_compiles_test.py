"""Tests of slowest_compiles on a small log."""

import importlib.machinery
import importlib.util
import unittest
from pathlib import Path

LOADER = importlib.machinery.SourceFileLoader(
    "slowest_compiles", str(Path(__file__).resolve().parent / "slowest_compiles"))
TOOL = importlib.util.module_from_spec(importlib.util.spec_from_loader("slowest_compiles", LOADER))
LOADER.exec_module(TOOL)


class SlowestCompiles(unittest.TestCase):

    def test_last_compilation_of_each_object_counts_and_links_do_not(self):
        log = ("# ninja log v5\n"
               "0\t9000\t1\ta/CMakeFiles/x.dir/slow.cc.o\tab\n"
               "0\t2000\t1\ta/CMakeFiles/x.dir/quick.cc.o\tab\n"
               "0\t99000\t1\tbin/program\tab\n"
               "1000\t4000\t1\ta/CMakeFiles/x.dir/slow.cc.o\tab\n")
        self.assertEqual(TOOL.read_log(log), [(3.0, "a/CMakeFiles/x.dir/slow.cc.o"),
                                              (2.0, "a/CMakeFiles/x.dir/quick.cc.o")])

    def test_object_is_named_by_its_source(self):
        self.assertEqual(TOOL.source_name("rml/core/CMakeFiles/rml_core.dir/sub/a.cc.o"), "rml/core/sub/a.cc")


if __name__ == "__main__":
    unittest.main()
