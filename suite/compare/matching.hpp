// Which series of one side belongs to which of the other.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "suite/compare/compare.hpp"

namespace assay::compare {

/// Two series of one name; null: that side lacks it.
struct Match {
    const Series* a = nullptr;
    const Series* b = nullptr;
    /// Context keys in which they differ, without those in `across`, in name order.
    std::vector<std::string> differs;
};

/// Series pair up by what people call them: by everything that identifies a row but profile,
/// provenance and scenario; with Options::whole_ids by these, too. Where a side has several of one
/// name (two profiles, say), those whose contexts agree pair up first. A series without metric is
/// one of which every sample failed or was marked: it stands for all metrics of that experiment,
/// variant and case that the other side has. In the order of A, then what only B has. The arms must
/// outlive the result.
std::vector<Match> match(const Arm& a, const Arm& b, const Options&);

/// Keys that both have with different values. What one of them lacks is unknown, so equal:
/// unknown_context() names it.
std::vector<std::string> differing_context(const Series& a, const Series& b,
                                           const std::set<std::string>& across);

/// In what two contexts differ.
struct Difference {
    std::string key;         ///< of the context: "data", "hardware"
    std::string part;        ///< of the hardware: "usable cores"; empty: the whole
    std::string in_a, in_b;  ///< "none" where there is none

    std::string what() const { return part.empty() ? key : key + " (" + part + ')'; }
};
/// Of the keys that differ; of hardware each part that does, where both sides know it.
std::vector<Difference> differences(const Series& a, const Series& b,
                                    const std::set<std::string>& across);

/// Keys that only `other` tells something of, without those in `across`.
std::vector<std::string> unknown_context(const Series& series, const Series& other,
                                         const std::set<std::string>& across);

}  // namespace assay::compare
