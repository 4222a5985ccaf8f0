#include "impls/decode/links/kept_sequences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw UserError("links: " + why); }

void check_rotations(const BatchRequest& request, const std::vector<int>& rotations, int context) {
    if (rotations.empty()) return;
    if (rotations.size() != request.prompt.size())
        refuse("give a rotation for each token of the prompt");
    const auto [least, most] = std::minmax_element(rotations.begin(), rotations.end());
    if (*least < 0 || *most >= context || request.max_tokens > context - rotations.back())
        refuse(fmt::format("rotations go from 0 to the context's end, {}", context - 1));
}

/// `end`: where the link before it ends.
void check_link(const BatchRequest& request, const LinkedTokens& linked, int end,
                const KeptSequence* kept) {
    if (kept == nullptr) refuse(fmt::format("nothing is kept of request {}", linked.kept));
    const std::vector<int>& tokens = kept->tokens;
    const auto known = static_cast<int>(tokens.size());
    if (linked.count < 1 || linked.first < 0 || linked.first > known - linked.count)
        refuse(fmt::format("{} tokens are kept of request {}", known, linked.kept));
    if (linked.at < end || linked.at > static_cast<int>(request.prompt.size()) - 1 - linked.count)
        refuse("they are ascending and apart, and the prompt's last token is none of them");
    if (!std::equal(tokens.begin() + linked.first, tokens.begin() + linked.first + linked.count,
                    request.prompt.begin() + linked.at))
        refuse(fmt::format("those kept of request {} are other tokens", linked.kept));
}

}  // namespace

void KeptSequences::check(const BatchRequest& request, const EngineLimits& limits) const {
    if (!request.links) return;
    const Links& links = *request.links;
    if (links.most_reused < 0) refuse("most_reused is at least 0");
    if (links.linked.empty() && links.rotations.empty()) return;
    if (!limits.can_link)
        refuse("keys of this model are not rotated; only those of RoPE can stand elsewhere");
    if (request.prompt_log_probabilities)
        refuse("a prompt that is scored is computed, no part of it linked");
    check_rotations(request, links.rotations, limits.context);
    int end = 0;
    for (const LinkedTokens& linked : links.linked) {
        const KeptSequence* const sequence = find(linked.kept);
        check_link(request, linked, end, sequence);
        static_cast<void>(shift_of(linked, links, *sequence));
        end = linked.at + linked.count;
    }
}

void KeptSequences::begin(const BatchRequest& request) {
    if (!request.links || !request.links->bind()) return;
    ++binding_;
    for (const LinkedTokens& linked : request.links->linked) ++linked_to_[linked.kept];
}

void KeptSequences::end(const BatchRequest& request) {
    if (!request.links || !request.links->bind()) return;
    --binding_;
    for (const LinkedTokens& linked : request.links->linked)
        if (--linked_to_[linked.kept] == 0) linked_to_.erase(linked.kept);
}

void KeptSequences::keep(RequestId as, std::span<const int> tokens,
                         const std::vector<int>& rotations) {
    KeptSequence& kept = kept_[as];
    kept.tokens.assign(tokens.begin(), tokens.end());
    if (rotations.empty()) return;
    for (int token = 0; token < static_cast<int>(tokens.size()); ++token)
        kept.rotations.push_back(rotation_of(rotations, token));
}

const KeptSequence* KeptSequences::find(RequestId kept) const {
    const auto found = kept_.find(kept);
    return found == kept_.end() ? nullptr : &found->second;
}

int shift_of(const LinkedTokens& linked, const Links& links, const KeptSequence& kept) {
    const auto apart = [&](int token) {
        return rotation_of(links.rotations, linked.at + token) -
               rotation_of(kept.rotations, linked.first + token);
    };
    const int shift = apart(0);
    for (int token = 1; token < linked.count; ++token)
        if (apart(token) != shift) refuse("the tokens of one do not keep their distances");
    return shift;
}

}  // namespace assay::decode
