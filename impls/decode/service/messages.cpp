#include "impls/decode/service/messages.hpp"

#include <fmt/format.h>

#include <cstring>

#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"

namespace assay::decode::service {

std::string state_object(RequestId exported) { return fmt::format("state {}", exported); }

std::uint64_t most_state_bytes(const EngineLimits& limits) {
    const auto product = [](auto a, std::uint64_t b) { return static_cast<std::uint64_t>(a) * b; };
    constexpr std::uint64_t of_a_token = 64, besides = 1 << 20;  // ids, probabilities, texts
    return product(limits.blocks, limits.block_bytes) + product(limits.context, of_a_token) +
           static_cast<std::uint64_t>(limits.vocabulary) + besides;
}

std::string state_text(std::span<const std::byte> bytes) {
    return to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::vector<std::byte> state_bytes(const std::string& text) {
    const auto decoded = from_base64(text);
    if (!decoded)
        throw UserError(
            "the state of a request is damaged: it is no base64; export it again, or submit the "
            "request anew");
    std::vector<std::byte> bytes(decoded->size());
    if (!bytes.empty()) std::memcpy(bytes.data(), decoded->data(), bytes.size());
    return bytes;
}

}  // namespace assay::decode::service
