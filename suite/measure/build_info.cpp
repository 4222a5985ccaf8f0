// Turns what CMake found into sentences for `assay doctor` and `assay --version`.
#include "suite/measure/build_info.hpp"

#include "build_config.hpp"

namespace assay::measure {

extern const char* const built_from_commit;

namespace {

using State = BuildPart::State;

BuildPart part(std::string name, bool found, bool used, const char* brings, const char* unused,
               const char* absent) {
    const State state = !found ? State::absent : used ? State::built_in : State::unused;
    return {std::move(name), state,
            state == State::built_in ? brings
            : state == State::unused ? unused
                                     : absent};
}

}  // namespace

BuildInfo build_info() {
    BuildInfo info;
    info.version = ASSAY_VERSION;
    info.commit = built_from_commit;
    info.compiler = ASSAY_COMPILER;
    info.build_type = ASSAY_BUILD_TYPE;
    info.flags = ASSAY_BUILD_FLAGS;
    info.torch = ASSAY_TORCH_VERSION;
    info.parts = {
        part("torch", ASSAY_HAVE_TORCH, true,
             "libtorch " ASSAY_TORCH_VERSION ": live training and every tensor method.", "",
             "Without libtorch live training is left out; exact and simulated experiments remain. "
             "scripts/dependencies fetches it; then configure again."),
        part("gloo", ASSAY_HAVE_TORCH && ASSAY_HAVE_GLOO, true,
             "Gloo collectives between processes, through libtorch.", "",
             "Without libtorch or Gloo's headers processes cannot train together. Install "
             "libgloo-dev, run scripts/dependencies, then configure again."),
        part(
            "benchmark", ASSAY_HAVE_BENCHMARK, true, "Google Benchmark: the micro-benchmarks.", "",
            "Without Google Benchmark the micro-benchmarks are left out. Install libbenchmark-dev, "
            "then configure again."),
        part("cuda", ASSAY_HAVE_NVCC, ASSAY_USES_NVCC, "CUDA kernels, as plug-ins.",
             "nvcc was found, but this version has no CUDA kernels yet.",
             "Without nvcc no CUDA kernel is built; nothing else depends on it."),
        part("simgrid", ASSAY_HAVE_SIMGRID, ASSAY_USES_SIMGRID, "SimGrid: simulated experiments.",
             "SimGrid was found, but this version has no simulation driver yet.",
             "Without SimGrid the simulated experiments are left out. Install libsimgrid-dev, then "
             "configure again."),
        part("qt", ASSAY_HAVE_QT, ASSAY_USES_QT, "Qt: the desktop window, assay-gui (GPL-3).",
             "Qt was found, but this version has no desktop window yet.",
             "Without Qt there is no desktop window. Install qt6-base-dev, qt6-charts-dev and "
             "libqt6opengl6-dev, then configure again."),
    };
    return info;
}

}  // namespace assay::measure
