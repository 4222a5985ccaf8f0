// What a prompt may be drawn for. Torch-free.
#pragma once

#include <cstdint>
#include <string>

#include "impls/nn/hashes.hpp"

namespace assay::dr_post_training {

enum class Split { trained, test, validation };

/// Short prompts come again and again, so numbers alone would not keep uses apart: a quarter of all
/// prompts is for the test, an eighth for validation, and neither is drawn for anything else.
inline Split split_of(const std::string& prompt) {
    // The low bits of the text's hash are those of a few letters: all of it is mixed first.
    const std::uint64_t eighth = nn::counter_hash(nn::hash_text(prompt, 1)) % 8;
    return eighth < 2 ? Split::test : eighth == 2 ? Split::validation : Split::trained;
}

}  // namespace assay::dr_post_training
