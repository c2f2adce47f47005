"""Makes python-writer.safetensors with the Python package safetensors (the version is in README.md)."""

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

save_file(
    {
        "zeta.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
        "alpha.bool": np.array([True, False, True]),
        "beta.i64": np.array([-1, 2**62], dtype=np.int64),
        "gamma.f16": np.array([[0.5], [1.5]], dtype=np.float16),
        "bf16": np.array([1.0, -2.0, 3.0], dtype=ml_dtypes.bfloat16),
        "empty": np.zeros((0, 4), dtype=np.float32),
        "scalar": np.array(7, dtype=np.uint16),
        "u8": np.arange(5, dtype=np.uint8),
        'odd "name"\n\u00e9': np.array([1.0], dtype=np.float64),
    },
    "python-writer.safetensors",
    metadata={"format": "pt"},
)
