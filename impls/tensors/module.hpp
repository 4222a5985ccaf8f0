// What needs libtorch is a module of its own: libassay_tensors.so beside the program, opened when a
// command first needs tensors. Loading libtorch takes longer than all else that most commands do.
//
// A system declares what the module computes for it as a struct of functions with a `symbol` (for
// example impls/lazarus/tensor_functions.hpp). The module defines an object of it under that name
// (impls/tensors_module.cpp); the program calls it through functions(). Both sides are of one
// build, so that C++ types and exceptions pass. What both link exists twice: nothing that they
// share may rest on a variable with static storage.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "suite/experiment/experiment.hpp"

namespace assay::tensors {

struct Module {
    std::filesystem::path file;
    std::string build;  ///< its build id must be this one
};

/// The program's own: beside it, or the one that hold_module() keeps.
Module program_module();

/// For programs that start others of themselves: they will find the module that is there now, even
/// when the build puts another in its place meanwhile.
void hold_module(const Module& = program_module());

/// Why it cannot be opened, as a sentence that says what to do: it is missing or of another build.
/// std::nullopt: it can. Looks at the file only.
std::optional<std::string> module_lacks(const Module& = program_module());

/// The address of what it defines, which stays. Opens it, unless it is open. Throws
/// NotSupportedHere with what module_lacks() says, or where libtorch is not to be found.
const void* find(const Module&, const char* symbol);

template <class Functions>
const Functions& functions() {
    static const auto* const found =
        static_cast<const Functions*>(find(program_module(), Functions::symbol));
    return *found;
}

/// For Experiment::run: the module is opened when the sample is made.
template <class Functions>
std::function<void(const SampleSpec&, Recorder&)> run_of(void (*Functions::*run)(const SampleSpec&,
                                                                                 Recorder&)) {
    return [run](const SampleSpec& spec, Recorder& recorder) {
        (functions<Functions>().*run)(spec, recorder);
    };
}

}  // namespace assay::tensors
