// Read before every C++ file of llama.cpp by scripts/peers. GCC 12's own functions do not tell the
// compiler what tiles read: of their shapes eight bytes of 64, of what they are loaded with nothing.
// What has not been stored yet is then read as it was, and llama.cpp's way through AMX ends in an
// illegal instruction.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#define _tile_loadconfig(config) \
    __asm__ volatile("ldtilecfg %0" ::"m"(*(const char(*)[64])(config)))
#undef _tile_loadd_internal
#define _tile_loadd_internal(tile, from, stride)                                    \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"((const void*)(from)), \
                     "r"((long)(stride))                                            \
                     : "memory")
#endif
