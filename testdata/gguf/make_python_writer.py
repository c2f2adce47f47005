"""Makes python-writer.gguf with the Python package gguf (the version is in README.md)."""

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, quants

writer = GGUFWriter("python-writer.gguf", "test")
writer.add_uint8("test.u8", 200)
writer.add_int8("test.i8", -100)
writer.add_uint64("test.u64", 18_000_000_000_000_000_000)
writer.add_int64("test.i64", -9_000_000_000_000_000_000)
writer.add_float64("test.f64", 0.1)
writer.add_bool("test.bool", True)
writer.add_string("test.string", "na\u00efve \u2603")
writer.add_array("test.ints", [1, -2, 3])
writer.add_array("test.strings", ["a", "", "\u2581c"])
writer.add_array("test.floats", [0.5, -1.0])
writer.add_tensor("f32", np.arange(6, dtype=np.float32).reshape(2, 3))
writer.add_tensor("f16", np.arange(4, dtype=np.float16))
values = np.linspace(-1, 1, 128, dtype=np.float32).reshape(2, 64)
kind = GGMLQuantizationType.Q8_0
writer.add_tensor("q8_0", quants.quantize(values, kind), raw_dtype=kind)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
