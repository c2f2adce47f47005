"""Tests of check_isa on disassemblies as objdump writes them."""

import importlib.machinery
import importlib.util
import unittest
from pathlib import Path

LOADER = importlib.machinery.SourceFileLoader("check_isa", str(Path(__file__).resolve().parent / "check_isa"))
TOOL = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_isa", LOADER))
LOADER.exec_module(TOOL)


def disassembly(member, function, *instructions):
    lines = [f"{member}:     file format elf64-x86-64", "", f"0000000000000000 <{function}>:"]
    return lines + [f"   {i:x}:\t{text}" for i, text in enumerate(instructions)]


class CheckIsa(unittest.TestCase):

    def leaks(self, member, function, *instructions, nm=()):
        return [leak[1:3] for leak in TOOL.leaks(disassembly(member, function, *instructions), nm)]

    def test_baseline_instructions_are_no_leak(self):
        self.assertEqual(self.leaks("a.cc.o", "_Z1fv", "movaps %xmm0,%xmm1", "tzcnt %eax,%eax", "crc32b %al,%eax",
                                    "pshufb %xmm1,%xmm0", "call 5 <kand>", "verr %ax"), [])

    def test_newer_instruction_in_plain_code_is_a_leak(self):
        for text in ("vaddps %ymm0,%ymm1,%ymm2", "vfmadd231ss %xmm0,%xmm1,%xmm2", "shlx %rax,%rbx,%rcx",
                     "kmovw %k1,%eax", "lzcnt %eax,%eax"):
            self.assertEqual(self.leaks("a.cc.o", "_Z1fv", text), [("_Z1fv", text.split()[0])])

    def test_function_named_after_its_isa_may_use_it(self):
        self.assertEqual(self.leaks("a.cc.o", "_ZN3rml7kernels6N_AVX23DotEv", "vaddps %ymm0,%ymm1,%ymm2"), [])

    def test_file_named_after_its_isa_may_use_it(self):
        self.assertEqual(self.leaks("dot_avx2.cc.o", "_Z3DotPKf", "vaddps %ymm0,%ymm1,%ymm2",
                                    nm=["dot_avx2.cc.o:", "0000 T _Z3DotPKf"]), [])

    def test_shared_function_in_such_a_file_is_a_leak(self):
        self.assertEqual(self.leaks("dot_avx2.cc.o", "_ZSt4sortIPiEvT_S1_", "vmovdqu (%rax),%xmm0",
                                    nm=["dot_avx2.cc.o:", "0000 W _ZSt4sortIPiEvT_S1_"]),
                         [("_ZSt4sortIPiEvT_S1_", "vmovdqu")])

    def test_cold_part_of_a_shared_function_is_a_leak_too(self):
        self.assertEqual(len(self.leaks("dot_avx2.cc.o", "_Z1gv.cold", "vzeroupper",
                                        nm=["dot_avx2.cc.o:", "0000 W _Z1gv"])), 1)


if __name__ == "__main__":
    unittest.main()
