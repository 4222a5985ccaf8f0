// What the prompts of nodes consist of, and what of them need not be computed again.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/plato/policy/controller.hpp"
#include "impls/plato/policy/plan_record.hpp"
#include "suite/base/describe.hpp"

namespace assay::plato {

/// Which keys and values a node's prompt takes from the cache. L0: none. L1: those of instruction
/// and question. L2: the longest prefix common with any sequence. L3: besides, those of finished
/// nodes, wherever they stand: not exact, they were computed under another prefix.
enum class KvReuse { none, shared, prefix, linked };
ASSAY_NAMES(KvReuse, (none, "L0"), (shared, "L1"), (prefix, "L2"), (linked, "L3"))

/// A part of a prompt. Two parts are the same tokens where kind and node are the same.
struct Segment {
    enum class Kind { instruction, question, outline, lead, answer };
    Kind kind = Kind::instruction;
    int node = 0;  ///< of outline (its line), lead and answer
    std::int64_t tokens = 0;

    bool same_text(const Segment& other) const { return kind == other.kind && node == other.node; }
};
using Segments = std::vector<Segment>;
std::int64_t tokens_of(const Segments& segments);

/// What is shared most comes first: instruction, question, lead and answer of each dependency,
/// ascending, then the node's own lead. Skeleton-of-Thought (of a plan that is skeleton_of() it):
/// instruction, question, the whole skeleton, the node's own lead.
Segments prompt_of(const PlanRecord& plan, Mode mode, int node);

/// How many tokens two sequences begin with in common.
std::int64_t common_prefix(const Segments& a, const Segments& b);

/// What of the nodes' prompts is in the cache, and what has been computed.
class PromptCache {
  public:
    /// warm: instructions are cached before the first node comes (not at KvReuse::none).
    PromptCache(const PlanRecord& plan, Mode mode, KvReuse reuse, bool warm);

    std::int64_t prompt_tokens(int node) const { return tokens_of(prompt(node)); }
    /// Of a node that is not started: tokens of its prompt that it finds.
    std::int64_t cached_tokens(int node) const;
    /// Its prompt is computed now. Returns how many tokens of it had to be.
    std::int64_t start(int node);
    /// Its answer but the last token, which no step has read, is in the cache.
    void finish(int node);

  private:
    const Segments& prompt(int node) const { return prompts_[static_cast<std::size_t>(node - 1)]; }
    void keep(const Segments& sequence);

    const PlanRecord& plan_;
    KvReuse reuse_;
    std::vector<Segments> prompts_;             // [node - 1]
    std::vector<std::int64_t> longest_prefix_;  // [node - 1], common with any sequence kept
    std::int64_t shared_;  // tokens of instruction and question that are cached
};

}  // namespace assay::plato
