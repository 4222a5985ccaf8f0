// Finds and loads the CUDA back end at run time, so that programs start, and pay, without one.
#pragma once

#include <filesystem>
#include <string>

#include "kernels/assay_kernels.h"

namespace assay::kernels {

/// A back end's functions, or why there are none. What was loaded stays loaded to the program's
/// end: a CUDA run time cannot be taken out of a process that has used it.
struct Plugin {
    const AssayKernels* kernels = nullptr;
    std::string why_not;  ///< a sentence that says what to do; empty where kernels is not null
};

/// libassay_kernels_cuda.so beside the program, or the file that the environment variable
/// ASSAY_KERNELS_CUDA names.
std::filesystem::path cuda_plugin_file();
/// Loads a plug-in and checks that it is of this program's version and complete. Never throws for
/// what the file holds.
Plugin load_plugin(const std::filesystem::path& file);
/// load_plugin(cuda_plugin_file()), once; later calls give the same.
const Plugin& cuda_plugin();
/// Its functions; throws NotSupportedHere (exit code 4) with why_not.
const AssayKernels& cuda_kernels();

}  // namespace assay::kernels
