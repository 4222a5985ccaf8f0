// The decode step's kernels as the fake driver runs them: the very source of the committed images,
// compiled for the emulation.
#pragma once

#include <span>

#include "impls/foundry/driver/fake/kernels.hpp"

namespace assay::foundry::toy {

/// By name, for FakeControl::add_kernels(). The emulation runs one launch of a process at a time.
std::span<const fake::HostKernel> host_kernels();

/// The committed fatbin of these kernels, for sm_80, sm_90 and sm_100.
std::span<const std::byte> decode_image();

}  // namespace assay::foundry::toy
