#include "impls/decode/links/linked_cache.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace assay::decode {

LinkedRequest::LinkedRequest(LinkedCache& all, RequestId id, const BatchRequest& request)
    : all_(all), id_(id), request_(request) {
    all_.sequences_.begin(request_);
    for (const LinkedTokens& each : links().linked)
        shifts_.push_back(shift_of(each, links(), *all_.sequences_.find(each.kept)));
}

LinkedRequest::~LinkedRequest() { all_.sequences_.end(request_); }

int LinkedRequest::first_brought() const {
    return links().linked.empty() ? std::numeric_limits<int>::max() : links().linked.front().at;
}

CacheHook::Chunk LinkedRequest::chunk(int fed, int known, int most) const {
    int end = fed, computed = 0;
    const auto compute_up_to = [&](int token) {
        const int count = std::min(std::max(0, token - end), most - computed);
        end += count;
        computed += count;
    };
    for (const LinkedTokens& linked : links().linked) {
        if (computed == most) break;
        compute_up_to(linked.at);
        if (end >= linked.at) end = std::max(end, linked.at + linked.count);
    }
    compute_up_to(known);
    if (computed == 0) return {};
    return {end - fed, computed};
}

void LinkedRequest::on_admitted(std::span<const int> blocks) {
    for (std::size_t i = 0; i < links().linked.size(); ++i) {
        const LinkedTokens& linked = links().linked[i];
        const std::vector<int>& from = all_.blocks_.at(linked.kept);
        for (int done = 0; done < linked.count;) {
            const int source = linked.first + done, target = linked.at + done;
            const int positions =
                std::min({linked.count - done, block_positions - source % block_positions,
                          block_positions - target % block_positions});
            all_.copies_.push_back(
                {.from = from[static_cast<std::size_t>(source / block_positions)],
                 .from_position = source % block_positions,
                 .to = blocks[static_cast<std::size_t>(target / block_positions)],
                 .to_position = target % block_positions,
                 .positions = positions,
                 .shift = shifts_[i]});
            done += positions;
        }
    }
}

bool LinkedRequest::keeps(std::span<const int> tokens, std::span<const int> blocks) {
    if (!links().keep) return false;
    all_.sequences_.keep(id_, tokens, links().rotations);
    all_.blocks_[id_].assign(blocks.begin(), blocks.end());
    return true;
}

void LinkedRequest::make_slice(std::span<const int> tokens, int first, int count, Slice& slice) {
    if (links().linked.empty() && links().rotations.empty()) return;
    ids_.clear();
    positions_.clear();
    rotations_.clear();
    auto linked = links().linked.begin();
    for (int token = first; token < first + count; ++token) {
        while (linked != links().linked.end() && linked->at + linked->count <= token) ++linked;
        if (linked != links().linked.end() && linked->at <= token) continue;
        ids_.push_back(tokens[static_cast<std::size_t>(token)]);
        positions_.push_back(token);
        rotations_.push_back(rotation_of(links().rotations, token));
    }
    slice.ids = ids_;
    slice.positions = positions_;
    slice.rotations = rotations_;
}

std::unique_ptr<LinkedRequest> LinkedCache::begin(RequestId id, const BatchRequest& request) {
    if (!request.links || !request.links->bind()) return nullptr;
    return std::make_unique<LinkedRequest>(*this, id, request);
}

void LinkedCache::carry_out(BackEnd& back_end) {
    for (const LinkedPositions& copy : copies_) back_end.link(copy);
    copies_.clear();
}

std::vector<int> LinkedCache::release(RequestId kept) {
    if (!sequences_.release(kept)) return {};
    return std::move(blocks_.extract(kept).mapped());
}

}  // namespace assay::decode
