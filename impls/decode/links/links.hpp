// An option of a request, inexact: keys and values of another sequence of its engine in place of
// computed ones. The engine's part is in linked_cache.hpp; one without such requests has none.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace assay::decode {

/// Tokens of a kept sequence at the beginning, or in the middle, of another one's prompt.
struct LinkedTokens {
    std::int64_t kept = -1;    ///< id of the request that was kept
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

/// As numbers alone, and back. Throws UserError: numbers that say no links.
std::vector<std::int64_t> to_numbers(const Links& links);
Links links_from(const std::vector<std::int64_t>& numbers);

/// The position by which token n of a request is rotated, whose prompt has these rotations.
int rotation_of(const std::vector<int>& rotations, int token);

}  // namespace assay::decode
