#include "impls/dr_post_training/plans/gradient_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <istream>
#include <iterator>
#include <vector>

#include "impls/dr_post_training/plans/formats.hpp"
#include "impls/nn/files/untrusted_file.hpp"
#include "suite/base/error.hpp"

namespace assay::dr_post_training {
namespace {

/// The header's length has zeros where JSON has characters; so has one that is cut off.
bool begins_with_a_length(std::span<const std::byte> bytes) {
    constexpr std::size_t length_bytes = 8, upper = 4;
    const auto head = bytes.first(std::min(bytes.size(), length_bytes));
    return std::count(head.begin() + std::min(head.size(), upper), head.end(), std::byte{0}) > 0;
}

}  // namespace

PlanInput read_gradients(std::string_view name, std::span<const std::byte> bytes) {
    if (bytes.empty()) nn::malformed(name, "is empty; give JSON or safetensors");
    if (begins_with_a_length(bytes)) return read_safetensors_gradients(name, bytes);
    return read_json_gradients(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

PlanInput read_gradients_file(const std::string& file, std::istream& standard_input) {
    const auto read_stream = [](std::istream& in, std::string_view name) {
        const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
        return read_gradients(name, std::as_bytes(std::span(bytes)));
    };
    if (file == "-") return read_stream(standard_input, "standard input");
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored))
        throw UserError(fmt::format("--gradients {}: a folder; give a file", file));
    if (std::filesystem::is_regular_file(file, ignored)) {
        const nn::Mapping mapping(file);
        return read_gradients(file, mapping.bytes());
    }
    std::ifstream stream(file, std::ios::binary);  // a pipe, say
    if (!stream)
        throw UserError(fmt::format("--gradients {}: {}; give a file, or - for standard input",
                                    file, std::strerror(errno)));
    return read_stream(stream, file);
}

}  // namespace assay::dr_post_training
