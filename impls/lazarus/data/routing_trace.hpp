// A routing trace: tokens per expert, layer and iteration, as CSV
//     iteration,layer,e0,e1,…
// with one header line and whole non-negative numbers below it. The SmartMoE artifact's trace, once
// imported with `assay data fetch`, has this form.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

class RoutingTrace {
  public:
    /// Throws UserError "NAME:LINE: …" on a wrong header, a row with too few or too many fields, a
    /// field that is no non-negative integer below 2^63, a repeated (iteration, layer), or no rows.
    static RoutingTrace parse(std::string_view csv, std::string_view name);

    int experts() const { return experts_; }

    /// The last iteration of the trace that is not after `iteration`; before the beginning, the
    /// first.
    std::int64_t nearest_before(std::int64_t iteration) const;

    std::vector<std::int64_t> iterations() const;  ///< ascending

    /// Loads of the first `layers` layers at `iteration`. Throws UserError naming what is missing.
    std::vector<Loads> at(std::int64_t iteration, int layers) const;

  private:
    int experts_ = 0;
    std::map<std::int64_t, std::map<std::int64_t, Loads>> rows_;  // iteration → layer → loads
};

/// Throws UserError when the file cannot be read, and as RoutingTrace::parse() does.
RoutingTrace read_routing_trace(const std::filesystem::path& file);

/// The loads of the `count` most loaded experts, in index order (equal loads: the lower index is
/// kept). The paper replays traces of 32 experts for models with 8 to 16 this way. Throws UserError
/// when there are fewer.
Loads most_loaded(const Loads& loads, int count);

}  // namespace assay::lazarus
