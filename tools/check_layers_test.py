"""Tests of check_layers on small trees, each with one thing right or wrong."""

import importlib.machinery
import importlib.util
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parent / "check_layers"
LOADER = importlib.machinery.SourceFileLoader("check_layers", str(TOOL))
TOOL_MODULE = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_layers", LOADER))
LOADER.exec_module(TOOL_MODULE)

ARCHITECTURE = """# design
| 9 | `nowhere` | a table of something else |
## Layers
| layer | modules | what |
| --- | --- | --- |
| 2 | `ops`, `providers/*` | kernel tables |
| 1 | `quant`, `kernels`, `io` | kernels |
| 0 | `core` | tensors |
## Key types
| 0 | `other` | not a layer |
"""


class CheckLayers(unittest.TestCase):

    def faults(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"docs/architecture.md": ARCHITECTURE, **files}.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return TOOL_MODULE.check(Path(folder))

    def assert_one(self, faults, *parts):
        self.assertEqual(len(faults), 1, faults)
        for part in parts:
            self.assertIn(part, faults[0])

    def test_lower_layer_left_neighbour_and_own_module_are_allowed(self):
        self.assertEqual(self.faults({
            "rml/kernels/gemm.cc": '#include "rml/core/shape.h"\n#include "rml/quant/q4.h"\n'
                                   '#include "rml/kernels/gemm.h"\n#include <hwy/highway.h>\n',
            "rml/kernels/CMakeLists.txt": "rml_add_module(kernels DEPS core quant LIBS hwy::hwy)\n",
            "rml/kernels/gemm.h": "#include <span>\n",
        }), [])

    def test_upward_include_is_a_fault_with_its_line(self):
        self.assert_one(self.faults({"rml/core/a.cc": '\n#include "rml/io/gguf.h"\n'}),
                        "rml/core/a.cc:2", "'core' (layer 0) may not use 'io' (layer 1)")

    def test_include_to_the_right_on_the_same_line_is_a_fault(self):
        self.assert_one(self.faults({"rml/quant/a.h": '#include "rml/kernels/gemm.h"\n'}),
                        "rml/quant/a.h:1", "those to its left")

    def test_relative_include_cannot_hide_an_arrow(self):
        self.assert_one(self.faults({"rml/core/a.cc": '#include "../io/gguf.h"\n'}), "'io'")

    def test_tests_obey_the_table_too(self):
        self.assert_one(self.faults({"rml/core/a_test.cc": '#include "rml/io/gguf.h"\n'}), "a_test.cc:1")

    def test_included_module_that_the_table_lacks_is_a_fault(self):
        self.assert_one(self.faults({"rml/core/a.cc": '#include "rml/other/b.h"\n'}),
                        "'other' is not in the table")

    def test_folder_that_the_table_lacks_is_a_fault(self):
        self.assert_one(self.faults({"rml/nowhere/a.cc": "int a;\n", "rml/nowhere/b.cc": "int b;\n"}),
                        "'nowhere' is not in the table")

    def test_each_provider_is_a_module_of_its_own(self):
        self.assertEqual(self.faults({"rml/providers/cpu/a.cc": '#include "rml/ops/op.h"\n'
                                                                '#include "rml/providers/cpu/a.h"\n'}), [])
        self.assert_one(self.faults({"rml/providers/cpu/a.cc": '#include "rml/providers/onednn/b.h"\n'}),
                        "'providers/cpu' may not use 'providers/onednn'")

    def test_a_member_of_a_group_can_stand_behind_the_others(self):
        table = ARCHITECTURE.replace("`providers/*`", "`providers/*`, `providers/all`")
        files = {"docs/architecture.md": table,
                 "rml/providers/all/a.cc": '#include "rml/providers/onednn/b.h"\n',
                 "rml/providers/all/CMakeLists.txt":
                     "rml_add_module(providers_all DEPS ops OPTIONAL_DEPS providers_onednn)\n"}
        self.assertEqual(self.faults(files), [])
        files["rml/providers/cpu/a.cc"] = '#include "rml/providers/all/a.h"\n'
        self.assert_one(self.faults(files), "'providers/cpu' may not use 'providers/all'")

    def test_upward_dependency_in_cmake_is_a_fault(self):
        self.assert_one(self.faults({"rml/core/CMakeLists.txt":
                                     "# a comment (with DEPS io)\nrml_add_module(core\n  DEPS io LIBS z)\n"}),
                        "rml/core/CMakeLists.txt:2", "DEPS io")

    def test_included_module_must_be_linked(self):
        files = {"rml/io/a.cc": '#include "rml/quant/q4.h"\n',
                 "rml/io/CMakeLists.txt": "rml_add_module(io DEPS core)\n"}
        self.assert_one(self.faults(files), "rml/io/a.cc:1", "not in the DEPS")
        files["rml/io/CMakeLists.txt"] = "rml_add_module(io DEPS kernels)\n"
        files["rml/kernels/CMakeLists.txt"] = "rml_add_module(kernels DEPS quant)\n"
        self.assertEqual(self.faults(files), [])

    def test_public_header_stays_free_of_third_parties_and_heavy_headers(self):
        self.assert_one(self.faults({"rml/io/a.h": "#include <simdjson.h>\n"}), "<simdjson.h>")
        self.assert_one(self.faults({"rml/io/a.h": "#include <regex>\n"}), "too heavy")
        self.assertEqual(self.faults({"rml/io/internal/a.h": "#include <simdjson.h>\n",
                                      "rml/io/a-inl.h": "#include <hwy/highway.h>\n",
                                      "rml/io/dot_avx2.h": "#include <immintrin.h>\n#include <stdint.h>\n",
                                      "rml/io/test_support.h": "#include <gtest/gtest.h>\n"}), [])

    def test_missing_table_is_an_error(self):
        with self.assertRaises(SystemExit):
            self.faults({"docs/architecture.md": "# nothing\n"})


if __name__ == "__main__":
    unittest.main()
