// The GPU back end of libtorch, loaded when somebody asks for it: programs that stay on the CPU do
// not pay for it, and one binary serves both kinds of machine.
#pragma once

#include <optional>
#include <string>

namespace assay::nn {

/// Loads libtorch_cuda (beside libtorch_cpu, or wherever the loader finds it). Returns nullopt when
/// a GPU can be used, else the reason why not, in words. Later calls return the first answer.
std::optional<std::string> gpu_missing();

}  // namespace assay::nn
