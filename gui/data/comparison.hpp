// Two sides against each other: what is slower, how sure, what else differs? Plain values; no Qt.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "suite/compare/compare.hpp"
#include "suite/experiment/system.hpp"

namespace assay::gui {

struct Comparison {
    std::string a_typed, b_typed;
    compare::Arm a, b;
    std::vector<compare::Row> rows;  ///< they point into the arms
};

/// `typed`: "A,B", each as `assay compare` takes it. Throws UserError.
std::shared_ptr<const Comparison> read_comparison(const Registry& registry,
                                                  const std::filesystem::path& database,
                                                  const std::string& typed);

/// What could explain a difference, "commit: 1a2b → 3c4d"; each of which the sides differ in.
std::vector<std::string> differing_suspects(const Comparison& comparison);

}  // namespace assay::gui
