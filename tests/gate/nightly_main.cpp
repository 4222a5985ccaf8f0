// The real command line over an experiment whose times a test sets: by a file beside the program
// (this build of it became slower) and by the environment (the machine did).
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "suite/cli/command.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::testing {
namespace {

/// `what`: a variant, or one at a profile, "left.small".
double factor_of_build(const std::string& what) {
    const std::filesystem::path beside =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / ("factor." + what);
    double factor = 1;
    std::ifstream(beside) >> factor;
    return factor > 0 ? factor : 1;
}

double factor_of_machine() {
    const char* factor = std::getenv("ASSAY_TEST_MACHINE_FACTOR");
    return factor != nullptr ? std::atof(factor) : 1;
}

/// At most 0.2 %, never the same twice.
double noise(const SampleSpec& spec) {
    const auto mixed = (static_cast<unsigned>(::getpid()) * 2654435761U) ^
                       static_cast<unsigned>(spec.seed * 40503U);
    return 1 + 0.002 * static_cast<double>(mixed % 1000) / 1000;
}

void work(const SampleSpec& spec, Recorder& recorder) {
    if (std::getenv("ASSAY_TEST_SLOWLY") != nullptr)
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const double factor =
        factor_of_build(spec.variant) *
        factor_of_build(spec.variant + '.' + std::string(to_string(spec.profile))) *
        factor_of_machine() * noise(spec);
    recorder.metric("seconds", 0.1 * factor);
    recorder.metric("per_second", 10 / factor);
}

System make_night_system() {
    Experiment experiment;
    experiment.id = "night/work";
    experiment.title = "Work of a time that is set";
    experiment.source = "none";
    experiment.says = "For the tests of the nightly gate.";
    experiment.axes = {{"n", "nothing", {std::int64_t{1}, std::int64_t{2}}, false}};
    experiment.variants = {"left", "right"};
    experiment.metrics = {{"seconds", "s", "time", Direction::lower, false, {}},
                          {"per_second", "1/s", "speed", Direction::higher, false, {}}};
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.seconds_per_sample = 0.05;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    experiment.profiles = {toy, small};
    experiment.figure = {Figure::Kind::bars, "seconds", "n", {}, "", "", false};
    experiment.inputs = [](const SampleSpec&) -> std::vector<Input> {
        const char* file = std::getenv("ASSAY_TEST_INPUT");
        const char* sha256 = std::getenv("ASSAY_TEST_INPUT_SHA256");
        return file == nullptr
                   ? std::vector<Input>()
                   : std::vector<Input>{{"corpus", file, sha256 == nullptr ? "" : sha256}};
    };
    experiment.run = work;
    System system;
    system.id = "night";
    system.title = "For the tests of the nightly gate";
    system.paper = "none";
    Experiment other = experiment;
    other.id = "night/other";
    other.axes.clear();
    other.variants = {"only"};
    other.metrics.pop_back();
    other.figure.x = "variant";
    other.inputs = nullptr;
    other.run = [](const SampleSpec& spec, Recorder& recorder) {
        recorder.metric("seconds", 0.1 * noise(spec));
    };
    system.experiments = {experiment, other};
    return system;
}

}  // namespace
}  // namespace assay::testing

int main(int argc, char** argv) {
    assay::Registry registry;
    registry.add(assay::testing::make_night_system());
    return assay::cli::main(argc, argv, std::move(registry));
}
