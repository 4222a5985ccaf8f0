// Which sequences an engine holds on to for those that are linked to them.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "impls/decode/links/links.hpp"
#include "impls/decode/requests/request_check.hpp"

namespace assay::decode {

/// Tokens whose keys and values are held on to, and by what they are rotated; empty: 0, 1, …
struct KeptSequence {
    std::vector<int> tokens, rotations;
};

class KeptSequences {
  public:
    /// Throws UserError: links of a model whose keys are not rotated (EngineLimits::can_link), to
    /// what nothing was kept for or whose tokens are others, numbers out of range.
    void check(const BatchRequest& request, const EngineLimits& limits) const;

    /// A request that has links begins, and ends without anything being kept of it.
    void begin(const BatchRequest& request);
    void end(const BatchRequest& request);
    /// `tokens`, of which there are keys and values, are held on to as it asked.
    void keep(RequestId as, std::span<const int> tokens, const std::vector<int>& rotations);
    /// False: nothing was kept.
    bool release(RequestId kept) { return kept_.erase(kept) > 0; }

    /// By a request that has not ended.
    bool is_linked_to(RequestId kept) const { return linked_to_.contains(kept); }
    const KeptSequence* find(RequestId kept) const;               ///< null: nothing is kept of it
    bool bind() const { return binding_ > 0 || !kept_.empty(); }  ///< anything kept or linked

  private:
    std::map<RequestId, KeptSequence> kept_;
    std::map<RequestId, int> linked_to_;  // how often, by requests that have not ended
    int binding_ = 0;                     // such requests
};

/// By which a link's keys are to be rotated on. Throws UserError where its tokens do not keep their
/// distances.
int shift_of(const LinkedTokens& linked, const Links& links, const KeptSequence& kept);

}  // namespace assay::decode
