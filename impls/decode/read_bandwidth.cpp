#include "kernels/cpu/read_bandwidth.h"

#include "impls/decode/engine.hpp"

namespace assay::decode {

double measured_read_bandwidth(int threads, int megabytes) {
    return kernels::measured_read_bandwidth(threads, megabytes);
}

}  // namespace assay::decode
