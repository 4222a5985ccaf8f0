// `assay weights`: what changed from one version of a model's weights to the next.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>

#include "impls/weights/delta_files.hpp"
#include "suite/experiment/system.hpp"

namespace assay::weights {

Tool make_weights_tool();

// Its subcommands, each in a file of its own.
std::unique_ptr<Command> make_diff_command();
std::unique_ptr<Command> make_apply_command();

/// Before anything is read: UserError when --out is no name that a file can have, or that of one of
/// `inputs`, which would be lost.
void check_out(const std::string& out, std::initializer_list<std::string> inputs);

/// On standard output, as text or {"elements", "changed", "bytes"}.
void print_size(const DeltaSize& size, bool json);

}  // namespace assay::weights
