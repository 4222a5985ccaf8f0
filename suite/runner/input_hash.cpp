#include "suite/runner/input_hash.hpp"

#include <fmt/format.h>

#include <system_error>

#include "suite/experiment/error.hpp"
#include "suite/store/sha256.hpp"

namespace assay::runner {

const std::string& InputHash::content(const std::filesystem::path& file) {
    const auto [at, is_new] = known_.try_emplace(file);
    if (is_new) try {
            at->second = sha256_file_hex(file);
        } catch (const std::system_error& error) {
            known_.erase(at);
            throw UserError(
                fmt::format("{} cannot be read: {}", file.string(), error.code().message()));
        }
    return at->second;
}

std::string InputHash::of(const Experiment& experiment, const SampleSpec& spec) {
    if (!experiment.inputs) return {};
    std::string listed;
    for (const Input& input : experiment.inputs(spec)) {
        std::error_code missing;  // why it is not there, `unsupported` says
        if (!std::filesystem::is_regular_file(input.file, missing)) continue;
        const std::string& found = content(input.file);
        if (!input.sha256.empty() && found != input.sha256)
            throw UserError(fmt::format(
                "{}: {}, the {} of {}, was changed or damaged: its sha256 is {} where {} is known. "
                "Remove it and fetch it again (`assay data list`)",
                spec.experiment, input.file.string(), input.name, spec.experiment, found,
                input.sha256));
        listed += fmt::format("{} {}\n", input.name, found);
    }
    return listed.empty() ? std::string() : sha256_hex(listed);
}

}  // namespace assay::runner
