// module.hpp and the program's side of part.hpp in a build without libtorch.
#include "impls/tensors/module.hpp"
#include "impls/tensors/part.hpp"
#include "suite/base/error.hpp"

namespace assay::tensors {

Module program_module() { return {}; }

bool module_is_built() { return false; }

void hold_module(const Module&) {}

std::optional<std::string> module_lacks(const Module&) {
    return "this build has no libtorch; run scripts/dependencies and build again";
}

AnyFunction part_of_module(const char*) { throw NotSupportedHere(*module_lacks()); }

}  // namespace assay::tensors
