// What a row must say to be believed, beyond the constraints of its table.
#pragma once

#include <optional>
#include <string>

#include "suite/exchange/row.hpp"

namespace assay::exchange {

/// A sentence about what this program cannot have written: a broken column name, JSON that is none,
/// an id or a hash that does not fit its contents. Empty: nothing.
std::optional<std::string> problem_of(const Row&);

}  // namespace assay::exchange
