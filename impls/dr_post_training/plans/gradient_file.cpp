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

constexpr std::uint64_t most_json_bytes = 1'000'000'000;  // takes ten times that in memory

/// The header's length has zeros where JSON has characters; so has one that is cut off.
bool begins_with_a_length(const nn::UntrustedFile& file) {
    constexpr std::size_t length_bytes = 8, upper = 4;
    std::vector<std::byte> head(std::min<std::uint64_t>(file.size(), length_bytes));
    file.read(0, head);
    return std::count(head.begin() + std::min(head.size(), upper), head.end(), std::byte{0}) > 0;
}

PlanInput read(const nn::UntrustedFile& file) {
    if (file.size() == 0) nn::malformed(file.name(), "is empty; give JSON or safetensors");
    if (begins_with_a_length(file)) return read_safetensors_gradients(file);
    return read_json_gradients(file.name(), file.text(most_json_bytes));
}

}  // namespace

PlanInput read_gradients(std::string_view name, std::span<const std::byte> bytes) {
    return read(nn::UntrustedFile(std::string(name), bytes));
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
    if (std::filesystem::is_regular_file(file, ignored))
        return read(nn::UntrustedFile(std::filesystem::path(file)));
    std::ifstream stream(file, std::ios::binary);  // a pipe, say
    if (!stream)
        throw UserError(fmt::format("--gradients {}: {}; give a file, or - for standard input",
                                    file, std::strerror(errno)));
    return read_stream(stream, file);
}

}  // namespace assay::dr_post_training
