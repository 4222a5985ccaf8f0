#include "impls/lazarus/policy/dispatch/dispatcher.hpp"

#include <fmt/format.h>

#include "impls/lazarus/policy/dispatch/flexible_dispatcher.hpp"
#include "impls/lazarus/policy/rivals/padded_dispatcher.hpp"
#include "impls/lazarus/policy/rivals/spill_dispatcher.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {

using Kind = DispatchRule::Kind;

std::unique_ptr<Dispatcher> make_dispatcher(const DispatchRule& rule, const Placement& holders,
                                            int experts) {
    if (rule.kind == Kind::padded)
        return std::make_unique<PaddedDispatcher>(ExpertGroups(holders, experts, rule.group));
    if (rule.kind == Kind::spill)
        return std::make_unique<SpillDispatcher>(ExpertGroups(holders, experts, rule.group),
                                                 rule.limits);
    return std::make_unique<FlexibleDispatcher>(holders, experts);
}

void check_tokens(std::span<const Tokens> tokens, int experts, int ranks) {
    const std::size_t size = static_cast<std::size_t>(experts) * static_cast<std::size_t>(ranks);
    if (tokens.size() != size)
        throw UserError(fmt::format("dispatch of {} experts over {} ranks wants {} counts, not {}",
                                    experts, ranks, size, tokens.size()));
    for (std::size_t i = 0; i < size; ++i)
        if (tokens[i] < 0)
            throw UserError(fmt::format("dispatch: {} tokens of expert {} on rank {}", tokens[i],
                                        i / static_cast<std::size_t>(ranks),
                                        i % static_cast<std::size_t>(ranks)));
}

Tokens total_tokens(std::span<const Tokens> tokens, int expert) {
    constexpr Tokens most = Tokens{1} << 62;
    Tokens total = 0;
    for (const Tokens t : tokens) {
        if (t > most - total)
            throw UserError(fmt::format("dispatch: more than 2^62 tokens for expert {}", expert));
        total += t;
    }
    return total;
}

}  // namespace assay::lazarus
