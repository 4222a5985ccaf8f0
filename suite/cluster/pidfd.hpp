// Process descriptors. A file of its own, because glibc 2.36 forgot to declare them as C functions.
#pragma once

extern "C" {
#include <sys/pidfd.h>
}
