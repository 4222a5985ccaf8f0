// safetensors files and the config.json beside them. An input is the config.json, a zero byte, the
// file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "impls/nn/files/untrusted_file.hpp"
#include "tests/fuzz/model_files/model_file_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::size_t end = std::min(input.find('\0'), size);
    nlohmann::json companions = nlohmann::json::object();
    try {
        companions["config"] = assay::nn::strict_json("config.json", input.substr(0, end));
    } catch (const assay::UserError&) {
        // The file alone, then.
    }
    const auto* const bytes = reinterpret_cast<const std::byte*>(data);
    assay::nn::check_model_file({bytes + std::min(end + 1, size), bytes + size},
                                std::move(companions));
    return 0;
}
