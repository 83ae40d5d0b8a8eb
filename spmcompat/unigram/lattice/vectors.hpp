// Types for vectors of up to four values. They use an extension of GCC and Clang.
#pragma once

#include <cstdint>
#include <cstring>

#include "spmcompat/platform.hpp"

namespace spmcompat {

using Float4 = float __attribute__((vector_size(16)));
using Int4 = int32_t __attribute__((vector_size(16)));
using Double4 = double __attribute__((vector_size(32)));
using Long2 = int64_t __attribute__((vector_size(16)));
using Long4 = int64_t __attribute__((vector_size(32)));

// Compilers warn that the calling convention for wide vectors depends on AVX. This does not matter
// here, because all functions that take vectors are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

#define SPMCOMPAT_INLINE [[gnu::always_inline]] inline

}  // namespace spmcompat
