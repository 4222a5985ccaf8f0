// GGUF model files.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/model_files/model_file_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(data);
    assay::nn::check_model_file({bytes, bytes + size}, nlohmann::json::object());
    return 0;
}
