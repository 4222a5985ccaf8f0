// What needs libtorch is a module of its own: libassay_tensors.so beside the program, opened when a
// command first needs tensors. Loading libtorch takes longer than all else that most commands do.
//
// What it computes for a system is a part of it (part.hpp).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace assay::tensors {

struct Module {
    std::filesystem::path file;
    std::string build;  ///< its build id must be this one
};

/// The program's own: beside it, or the one that hold_module() keeps.
Module program_module();

/// Whether this build has one.
bool module_is_built();

/// For programs that start others of themselves: they will find the module that is there now, even
/// when the build puts another in its place meanwhile.
void hold_module(const Module& = program_module());

/// Why it cannot be opened, as a sentence that says what to do: it is missing or of another build.
/// std::nullopt: it can. Looks at the file only.
std::optional<std::string> module_lacks(const Module& = program_module());

/// The address of what it defines, which stays. Opens it, unless it is open. Throws
/// NotSupportedHere with what module_lacks() says, or where libtorch is not to be found.
const void* find(const Module&, const char* symbol);

}  // namespace assay::tensors
