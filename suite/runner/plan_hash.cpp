#include "suite/runner/plan_hash.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace assay::runner {

std::string identity(const SampleSpec& spec) {
    SampleSpec defining = spec;
    defining.scratch.clear();
    defining.state.clear();
    defining.shared.clear();
    defining.timeout_s = 0;
    return to_json(defining).dump();
}

namespace {

/// FNV-1a in 64 bits. Not cryptographic: it guards against mistakes, not against an adversary.
std::uint64_t fnv1a(std::string_view text, std::uint64_t hash) {
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3ULL;
    }
    return hash;
}

// Two independent offsets make 128 bits.
struct TextHash {
    std::uint64_t high = 0xcbf29ce484222325ULL;
    std::uint64_t low = 0x9ae16a3b2f90404fULL;

    void add(std::string_view text) {
        high = fnv1a(text, high);
        low = fnv1a(text, low);
    }
    std::string digits() const { return fmt::format("{:016x}{:016x}", high, low); }
};

}  // namespace

std::string text_hash(std::string_view text) {
    TextHash hash;
    hash.add(text);
    return hash.digits();
}

std::string plan_hash(const std::vector<PlannedSample>& samples) {
    TextHash hash;
    for (const PlannedSample& sample : samples)
        hash.add(identity(sample.spec) + sample.calibration + '\n');
    return hash.digits();
}

}  // namespace assay::runner
