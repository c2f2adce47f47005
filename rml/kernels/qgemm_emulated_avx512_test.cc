#include "rml/kernels/qgemm_emulation_test.h"

#if defined(__x86_64__) && __has_include(<simde/x86/avx512.h>)
#include "rml/kernels/qgemm_simde_test.h"

#define kQuantKernelsAvx512 kEmulatedKernelsAvx512
namespace rml::kernels {
extern const QuantKernels kQuantKernelsAvx512;
}
#include "rml/kernels/qgemm_avx512.cc"

namespace rml::kernels {
const QuantKernels* EmulatedAvx512() { return &kEmulatedKernelsAvx512; }
}  // namespace rml::kernels
#else
namespace rml::kernels {
const QuantKernels* EmulatedAvx512() { return nullptr; }
}  // namespace rml::kernels
#endif
