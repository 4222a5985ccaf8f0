#include "impls/nn/parameter_block.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cstring>

namespace assay::nn {
namespace {

// FNV-1a over 64-bit words with a final mix: fast enough for megabytes, and portable.
constexpr std::uint64_t fnv_offset = 0xcbf29ce484222325ULL;
constexpr std::uint64_t fnv_prime = 0x100000001b3ULL;

std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t hash) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    while (size >= 8) {
        std::uint64_t word;
        std::memcpy(&word, bytes, 8);
        hash = (hash ^ word) * fnv_prime;
        hash ^= hash >> 29;
        bytes += 8;
        size -= 8;
    }
    for (; size > 0; --size) hash = (hash ^ *bytes++) * fnv_prime;
    return hash;
}

// The same over eight lanes, word i in lane i mod 8, the lanes hashed in the end: as sensitive to
// content and order, and several times as fast, since no word waits for the one before it.
std::uint64_t hash_bytes_in_lanes(const void* data, std::size_t size, std::uint64_t hash) {
    constexpr std::size_t lanes = 8;
    std::uint64_t lane[lanes];
    for (std::size_t i = 0; i < lanes; ++i) lane[i] = hash + i;
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (; size >= sizeof lane; bytes += sizeof lane, size -= sizeof lane) {
        std::uint64_t word[lanes];
        std::memcpy(word, bytes, sizeof word);
        for (std::size_t i = 0; i < lanes; ++i) {
            lane[i] = (lane[i] ^ word[i]) * fnv_prime;
            lane[i] ^= lane[i] >> 29;
        }
    }
    return hash_bytes(bytes, size, hash_bytes(lane, sizeof lane, hash));
}

}  // namespace

ParameterBlock::ParameterBlock(std::string name, std::span<const ParameterSpec> specs,
                               at::ScalarType dtype, std::uint64_t seed)
    : name_(std::move(name)) {
    std::int64_t total = 0;
    for (const auto& spec : specs) total += c10::multiply_integers(spec.shape);
    const auto options = at::TensorOptions().dtype(dtype);
    values_ = at::empty({total}, options);
    grad_ = at::zeros({total}, options);
    first_moment_ = at::zeros({total}, options);
    second_moment_ = at::zeros({total}, options);

    std::int64_t offset = 0;
    for (const auto& spec : specs) {
        const auto size = c10::multiply_integers(spec.shape);
        auto part = values_.narrow(0, offset, size);
        if (spec.stddev > 0) {
            const std::string key = name_ + "/" + spec.name;
            auto generator = at::make_generator<at::CPUGeneratorImpl>(
                hash_bytes(key.data(), key.size(), fnv_offset ^ (seed * fnv_prime)));
            // Drawn in double whatever the dtype: float32 and float64 models start alike.
            part.copy_(at::normal(0.0, spec.stddev, {size}, generator,
                                  at::TensorOptions().dtype(at::kDouble)));
        } else {
            part.fill_(spec.constant);
        }
        auto leaf = part.view(spec.shape).detach().requires_grad_(true);
        leaf.mutable_grad() = grad_.narrow(0, offset, size).view(spec.shape);
        leaves_.push_back(std::move(leaf));
        offset += size;
    }
}

void ParameterBlock::zero_grad() { grad_.zero_(); }

void ParameterBlock::copy_state_from(const ParameterBlock& other) {
    values_.copy_(other.values_);
    first_moment_.copy_(other.first_moment_);
    second_moment_.copy_(other.second_moment_);
}

std::uint64_t ParameterBlock::digest() const {
    std::uint64_t hash = fnv_offset;
    for (const auto& part : state())
        hash = hash_bytes_in_lanes(part.data_ptr(), part.nbytes(), hash);
    return hash;
}

}  // namespace assay::nn
