// How a request's keys and values relate to other sequences of its engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "impls/decode/requests/request_check.hpp"

namespace assay::decode {

using RequestId = std::int64_t;  ///< 0, 1, … of an engine; never used again

/// Tokens of a kept sequence at the beginning, or in the middle, of another one's prompt.
struct LinkedTokens {
    RequestId kept = -1;
    int first = 0, count = 0;  ///< of the kept sequence: prompt, and what was made but the last
    int at = 0;                ///< where the first of them stands in the prompt
    bool operator==(const LinkedTokens&) const = default;
};

/// A request that keeps or is linked stays where it is: it has no state that could move.
struct Links {
    int most_reused = std::numeric_limits<int>::max();  ///< prompt tokens taken from the cache
    bool keep =
        false;  ///< its own are held on to under its id once it is finished, until release()
    /// These are copied, not computed, keys rotated to where they now stand. Ascending and apart;
    /// the prompt's last token is none of them. What is behind them was computed under another
    /// prefix: the tokens are not those of the same prompt without links.
    std::vector<LinkedTokens> linked;
    /// The prompt's tokens are rotated by these positions, not by where they stand: then a sequence
    /// that was kept need not be rotated to have another place. What is made goes on behind the
    /// last. Empty: 0, 1, …
    std::vector<int> rotations;

    /// Any of them but most_reused.
    bool bind() const { return keep || !linked.empty() || !rotations.empty(); }
    bool operator==(const Links&) const = default;
};

/// The position by which token n of a request is rotated, whose prompt has these rotations.
int rotation_of(const std::vector<int>& rotations, int token);

/// Tokens whose keys and values are held on to, and by what they are rotated; empty: 0, 1, …
struct KeptSequence {
    std::vector<int> tokens, rotations;
};
/// With `known` tokens of which there are keys and values, made behind a prompt with these
/// rotations.
KeptSequence kept_sequence(std::vector<int> known, const std::vector<int>& rotations);

/// Null: nothing is kept of it.
using FindKept = std::function<const KeptSequence*(RequestId kept)>;

/// Throws UserError: links of a model whose keys are not rotated (EngineLimits::can_link), to what
/// nothing was kept for or whose tokens are others, numbers out of range.
void check_links(const BatchRequest& request, const Links& links, const EngineLimits& limits,
                 const FindKept& kept);

/// By which a link's keys are to be rotated on. Throws UserError where its tokens do not keep their
/// distances.
int shift_of(const LinkedTokens& linked, const Links& links, const KeptSequence& kept);

}  // namespace assay::decode
