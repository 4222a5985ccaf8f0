// A model file of a wanted size, with random weights: for time alone.
#pragma once

#include <cstdint>
#include <filesystem>

namespace assay::decode {

/// LLaMA's shape with layers of about 6 MiB in bf16, as many as make about so many MiB; at least
/// one. Returns the bytes of its matrices. Throws UserError when it cannot be written.
std::uint64_t write_random_model(const std::filesystem::path& path, int mebibytes, int context,
                                 std::uint64_t seed);

/// Ids below this are in its vocabulary.
inline constexpr int random_model_vocabulary = 4096;

}  // namespace assay::decode
