#!/usr/bin/env python3
"""A library that `rml bench kernels --peer NAME` compares with; it speaks JSON lines.

{"op": ..., "attributes": ..., "inputs": [{"dtype", "dims", "transposed", "constant", "path"}], "output": path}
    -> {"ok": true, "version": ...} with the result's bytes written to `output`, or {"refused": why}
{"run": seconds} -> {"seconds_per_call": ...}
"""
import argparse
import ctypes
import glob
import json
import os
import sys
import time


class Refused(Exception):
    pass


ATTRIBUTES = {  # what each operator may be asked for; anything else is refused, never ignored
    "matmul": set(), "softmax": {"axis"}, "log_softmax": {"axis"}, "sum": {"axes"}, "mean": {"axes"},
    "argmax": set(), "layer_norm": {"eps"}, "rms_norm": {"eps"}, "cross_entropy": set(),
}


class Torch:
    def __init__(self, threads):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        self.version = "torch " + torch.__version__

    def tensor(self, spec):
        torch = self.torch
        dtypes = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
                  "i64": torch.int64, "i32": torch.int32, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool}
        if spec is None:
            return None
        if spec["dtype"] not in dtypes:
            raise Refused("no dtype " + spec["dtype"])
        with open(spec["path"], "rb") as file:
            data = bytearray(file.read())
        # A copy, at an address that torch likes.
        t = torch.frombuffer(data, dtype=dtypes[spec["dtype"]]).reshape(spec["dims"]).clone()
        return t.transpose(-1, -2) if spec["transposed"] else t

    def prepare(self, op, attributes, specs):
        torch, F = self.torch, self.torch.nn.functional
        x = [self.tensor(s) for s in specs]
        axis = attributes.get("axis", -1)
        axes = attributes.get("axes") or None
        eps = attributes.get("eps", 1e-5)
        unary = {"exp": torch.exp, "relu": torch.relu, "silu": F.silu, "sigmoid": torch.sigmoid, "tanh": torch.tanh,
                 "sqrt": torch.sqrt, "gelu": F.gelu, "neg": torch.neg, "abs": torch.abs, "log": torch.log}
        binary = {"add": torch.add, "mul": torch.mul, "sub": torch.sub, "div": torch.div,
                  "maximum": torch.maximum, "minimum": torch.minimum}
        if op == "matmul":
            a, b = x
            if b.dim() == 2 and specs[1]["constant"] and b.dtype in (torch.float32, torch.bfloat16):
                # The best of the plain product and weights that oneDNN laid out before.
                plain = lambda: torch.matmul(a, b)
                if torch.backends.mkldnn.is_available() and a.dim() == 2:
                    weight = b.t().contiguous()
                    try:
                        packed = torch.ops.mkldnn._reorder_linear_weight(weight, a.shape[0])
                    except Exception:  # this build has it not for the dtype
                        return plain
                    linear = lambda: torch.ops.mkldnn._linear_pointwise(a, packed, None, "none", [], "")
                    return self.best(plain, linear)
                return plain
            return lambda: torch.matmul(a, b)
        if op in unary:
            return lambda: unary[op](x[0])
        if op in binary:
            return lambda: binary[op](x[0], x[1])
        if op == "softmax":
            return lambda: torch.softmax(x[0], axis)
        if op == "log_softmax":
            return lambda: torch.log_softmax(x[0], axis)
        if op == "sum":
            return lambda: torch.sum(x[0], axes)
        if op == "mean":
            return lambda: torch.mean(x[0], axes)
        if op == "layer_norm":
            return lambda: F.layer_norm(x[0], x[0].shape[-1:], x[1], x[2], eps)
        if op == "rms_norm":
            return lambda: F.rms_norm(x[0], x[0].shape[-1:], x[1], eps)
        if op == "cross_entropy":
            return lambda: F.cross_entropy(x[0], x[1])
        raise Refused("this script knows no such operator of torch")

    @staticmethod
    def best(*ways):
        """The fastest of the ways that work, by three calls each."""
        times = []
        for way in ways:
            try:
                way()
                start = time.perf_counter()
                for _ in range(3):
                    way()
                times.append((time.perf_counter() - start, len(times), way))
            except Exception:  # a way that this build lacks
                times.append((float("inf"), len(times), way))
        return min(times)[2]

    def guard(self):
        return self.torch.inference_mode()

    def save(self, result, path):
        with open(path, "wb") as file:
            file.write(result.contiguous().view(self.torch.uint8).numpy().tobytes()
                       if result.dim() else result.reshape(1).view(self.torch.uint8).numpy().tobytes())


class Blas:
    """cblas_sgemm of a library, by ctypes."""

    def __init__(self, name, threads):
        import numpy
        self.numpy = numpy
        if name == "mkl":
            found = glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*"))
            os.environ.setdefault("MKL_THREADING_LAYER", "INTEL")
            self.lib = ctypes.CDLL(found[0] if found else "libmkl_rt.so.2", mode=ctypes.RTLD_GLOBAL)
            self.lib.MKL_Set_Num_Threads(threads)
            text = ctypes.create_string_buffer(200)
            self.lib.MKL_Get_Version_String(text, 200)
            self.version = text.value.decode().strip()
            self.gemm, self.int = self.lib.cblas_sgemm, ctypes.c_int
        else:
            import scipy_openblas64 as wheel
            self.lib = ctypes.CDLL(glob.glob(os.path.join(wheel.get_lib_dir(), "libscipy_openblas64_.so*"))[0])
            self.lib.scipy_openblas_set_num_threads64_(threads)
            config = self.lib.scipy_openblas_get_config64_
            config.restype = ctypes.c_char_p
            self.version = config().decode().strip()
            self.gemm, self.int = self.lib.scipy_cblas_sgemm64_, ctypes.c_int64

    def prepare(self, op, attributes, specs):
        if op != "matmul" or any(s["dtype"] != "f32" for s in specs):
            raise Refused("only matmul in f32")
        np = self.numpy
        a, b = (np.fromfile(s["path"], dtype=np.float32).reshape(s["dims"]) for s in specs)
        if a.shape[:-2] != b.shape[:-2]:
            raise Refused("batches that broadcast")
        ta, tb = (s["transposed"] for s in specs)
        m, k = a.shape[-2:][::-1] if ta else a.shape[-2:]
        n = b.shape[-2] if tb else b.shape[-1]
        c = np.zeros(a.shape[:-2] + (m, n), np.float32)
        batch = c.size // (m * n)
        integer, real, pointer = self.int, ctypes.c_float, ctypes.c_void_p

        def call(i):
            at = lambda x: pointer(x.ctypes.data + 4 * i * x.shape[-1] * x.shape[-2])
            return (101, 112 if ta else 111, 112 if tb else 111, integer(m), integer(n), integer(k), real(1), at(a),
                    integer(a.shape[-1]), at(b), integer(b.shape[-1]), real(0), at(c), integer(n))
        calls = [call(i) for i in range(batch)]
        gemm = self.gemm

        def run():
            for arguments in calls:
                gemm(*arguments)
            return c
        run.inputs = (a, b)  # the calls hold addresses only
        return run

    def guard(self):
        import contextlib
        return contextlib.nullcontext()

    def save(self, result, path):
        result.tofile(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", choices=["torch", "mkl", "openblas"], required=True)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    # Settings of somebody's shell must not slow a peer down.
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "KMP_AFFINITY"):
        os.environ.pop(name, None)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(options.threads)
    os.environ["MKL_DYNAMIC"] = "FALSE"
    # Only answers may reach the pipe.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    peer = Torch(options.threads) if options.peer == "torch" else Blas(options.peer, options.threads)
    run = None
    calls = 0
    for line in sys.stdin:
        request = json.loads(line)
        with peer.guard():
            if "run" in request:
                seconds = request["run"]
                run()
                while calls == 0:
                    count = 1
                    while True:
                        start = time.perf_counter()
                        for _ in range(count):
                            run()
                        took = time.perf_counter() - start
                        if took >= seconds / 4:
                            break
                        count *= 4
                    calls = max(1, int(count * seconds / took + 1))
                start = time.perf_counter()
                for _ in range(calls):
                    run()
                answer = {"seconds_per_call": (time.perf_counter() - start) / calls}
            else:
                run, calls = None, 0
                try:
                    extra = set(request["attributes"]) - ATTRIBUTES.get(request["op"], set())
                    if extra:
                        raise Refused("attributes " + ", ".join(sorted(extra)))
                    run = peer.prepare(request["op"], request["attributes"], request["inputs"])
                    peer.save(run(), request["output"])
                    answer = {"ok": True, "version": peer.version}
                except Refused as why:
                    answer = {"refused": str(why)}
                except Exception as error:  # a library that lacks the dtype says so here
                    answer = {"refused": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
