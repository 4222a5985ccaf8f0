// Two sides against each other: what is slower, how sure, what else differs? Plain values; no Qt.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "suite/compare/compare.hpp"
#include "suite/experiment/system.hpp"
#include "suite/store/store.hpp"

namespace assay::gui {

struct Comparison {
    std::string a_typed, b_typed;
    compare::Arm a, b;
    /// Where both are the same, share sessions (compare::Arms), or have no row in common.
    std::string note;
    std::vector<compare::Row> rows;  ///< they point into the arms
};

/// With what reports call it among the others.
struct ComparedRow {
    compare::Row row;
    std::string name;
};
std::vector<ComparedRow> named_rows(const Comparison& comparison);

/// `typed`: "A,B", each as `assay compare` takes it. Throws UserError. Interrupting the store ends
/// it, but while a side is read that is a file of its own.
std::shared_ptr<const Comparison> read_comparison(const Registry& registry,
                                                  const store::Store& store,
                                                  const std::string& typed);

/// What could explain a difference, "commit: 1a2b → 3c4d"; each of which the sides differ in.
std::vector<std::string> differing_suspects(const Comparison& comparison);

}  // namespace assay::gui
