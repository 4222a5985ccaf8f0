// Read before every C++ file of llama.cpp by scripts/peers: with GCC 12's own _tile_loadconfig its way through AMX
// ends in an illegal instruction. That function tells the compiler that eight bytes of the 64 are read, so that the
// shapes of the tiles may not have been stored yet.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#define _tile_loadconfig(config) __asm__ volatile("ldtilecfg %0" ::"m"(*(const char(*)[64])(config)))
#endif
