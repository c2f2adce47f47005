#include "rml/kernels/qgemm_emulation_test.h"

#if defined(__x86_64__) && __has_include(<simde/x86/avx512.h>)
#include "rml/kernels/qgemm_simde_test.h"

#define kQuantKernelsAvx512Vnni kEmulatedKernelsAvx512Vnni
namespace rml::kernels {
extern const QuantKernels kQuantKernelsAvx512Vnni;
}
#include "rml/kernels/qgemm_avx512vnni.cc"

namespace rml::kernels {
const QuantKernels* EmulatedAvx512Vnni() { return &kEmulatedKernelsAvx512Vnni; }
}  // namespace rml::kernels
#else
namespace rml::kernels {
const QuantKernels* EmulatedAvx512Vnni() { return nullptr; }
}  // namespace rml::kernels
#endif
