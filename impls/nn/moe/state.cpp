#include "impls/nn/moe/state.hpp"

#include <ATen/ATen.h>

#include <iterator>
#include <set>

#include "impls/nn/hashes.hpp"
#include "impls/nn/moe/stages.hpp"

namespace assay::nn {

ParameterBlock& MoeState::make_initial(BlockKey key) {
    const auto specs = key == dense_key ? dense_parameters(model_) : expert_parameters(model_);
    auto& slot = blocks_[key];
    slot = std::make_unique<ParameterBlock>(block_name(key), specs, model_.dtype, seed_,
                                            placement_.device);
    seal(key);
    return *slot;
}

ParameterBlock& MoeState::make_or_get(BlockKey key) {
    auto* block = find(key);
    return block ? *block : make_initial(key);
}

void MoeState::adopt(BlockKey key, std::unique_ptr<ParameterBlock> block) {
    blocks_[key] = std::move(block);
}

std::unique_ptr<ParameterBlock> MoeState::release(BlockKey key) {
    auto node = blocks_.extract(key);
    seals_.erase(key);
    return node ? std::move(node.mapped()) : nullptr;
}

ParameterBlock* MoeState::find(BlockKey key) {
    const auto found = blocks_.find(key);
    return found == blocks_.end() ? nullptr : found->second.get();
}

const ParameterBlock* MoeState::find(BlockKey key) const {
    const auto found = blocks_.find(key);
    return found == blocks_.end() ? nullptr : found->second.get();
}

void MoeState::drop_all_but(const std::vector<BlockKey>& keep) {
    const std::set<BlockKey> wanted(keep.begin(), keep.end());
    std::erase_if(blocks_, [&](const auto& entry) { return !wanted.contains(entry.first); });
    std::erase_if(seals_, [&](const auto& entry) { return !wanted.contains(entry.first); });
}

std::vector<BlockKey> MoeState::keys() const {
    std::vector<BlockKey> keys;
    for (const auto& [key, block] : blocks_) keys.push_back(key);
    return keys;
}

std::map<BlockKey, std::uint64_t> MoeState::digests() const {
    std::map<BlockKey, std::uint64_t> result;
    for (const auto& [key, block] : blocks_) result[key] = block->digest();
    return result;
}

void MoeState::zero_gradients() {
    for (auto& [key, block] : blocks_) block->zero_grad();
}

void MoeState::update(std::int64_t step, const AdamOptions& adam) {
    for (auto& [key, block] : blocks_) {
        adam_update(*block, step + 1, adam);
        seal(key);
    }
}

std::optional<BlockKey> MoeState::not_finite() const {
    for (const auto& [key, block] : blocks_)
        if (!at::isfinite(block->grad()).all().item<bool>()) return key;
    return std::nullopt;
}

std::optional<BlockKey> MoeState::flip_bit_of_state(std::uint64_t seed) {
    if (blocks_.empty()) return std::nullopt;
    auto draw = [&, n = std::uint64_t{0}](std::uint64_t below) mutable {
        return counter_hash(counter_hash(seed) + n++) % below;
    };
    const auto entry =
        std::next(blocks_.begin(), static_cast<std::ptrdiff_t>(draw(blocks_.size())));
    const auto parts = entry->second->state();
    const auto& part = parts[draw(parts.size())];
    // An element and a bit of it: the bytes of a tensor lie one after the other.
    const auto bit = draw(part.nbytes() * 8);
    static_cast<unsigned char*>(part.data_ptr())[bit / 8] ^=
        static_cast<unsigned char>(1u << (bit % 8));
    return entry->first;
}

std::optional<BlockKey> MoeState::corrupted_block() const {
    for (const auto& [key, block] : blocks_)
        if (block->digest() != seals_.at(key)) return key;
    return std::nullopt;
}

void MoeState::seal(BlockKey key) { seal(key, blocks_.at(key)->digest()); }
void MoeState::seal(BlockKey key, std::uint64_t digest) { seals_[key] = digest; }

}  // namespace assay::nn
