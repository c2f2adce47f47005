"""Tests of size_report's count of code lines."""

import importlib.machinery
import importlib.util
import unittest
from pathlib import Path

LOADER = importlib.machinery.SourceFileLoader(
    "size_report", str(Path(__file__).resolve().parent / "size_report"))
TOOL = importlib.util.module_from_spec(importlib.util.spec_from_loader("size_report", LOADER))
LOADER.exec_module(TOOL)


class CodeLines(unittest.TestCase):

    def test_blanks_and_comments_do_not_count(self):
        self.assertEqual(TOOL.code_lines("// why\n\nint a;  // counts\n/* two\n lines */\nint b;\n"), 2)

    def test_code_after_a_block_comment_counts(self):
        self.assertEqual(TOOL.code_lines("/* x */ int a;\n/* y\n*/ int b;\n"), 2)


if __name__ == "__main__":
    unittest.main()
