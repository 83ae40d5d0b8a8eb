// Refuses compilers and platforms on which the code would not write the right bytes.
#pragma once

#if !defined(__GNUC__) && !defined(__clang__)
#error "spmcompat needs GCC 11 or later, or Clang 14 or later: it uses their vector types."
#elif __SIZEOF_POINTER__ != 8 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "spmcompat needs a 64-bit little-endian platform, such as x86-64 or aarch64."
#elif defined(__FAST_MATH__)
#error "spmcompat must be compiled without -ffast-math and -Ofast: they would change scores."
#endif
