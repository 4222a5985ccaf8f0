// Which experts a token computes where chance and not a router decides.
#pragma once

#include <cstdint>
#include <span>

#include "impls/decode/engine.hpp"

namespace assay::decode {

/// Sets `fixed.count` bytes of the mask, one per expert, to 1 and the others to 0: a function of
/// seed, layer and position.
void draw_experts(const FixedActive& fixed, int layer, int position, std::span<std::uint8_t> mask);

}  // namespace assay::decode
