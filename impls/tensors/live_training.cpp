#include "impls/tensors/live_training.hpp"

#include "suite/data/catalog.hpp"
#include "suite/experiment/recorder.hpp"

#ifdef ASSAY_LIVE_TRAININGS
#include "impls/tensors/module.hpp"
#endif

namespace assay::tensors {
namespace {

constexpr const char* text_id = "bible-kjv";

}  // namespace

std::optional<std::string> processes_lack() {
#ifdef ASSAY_LIVE_TRAININGS
    return module_lacks();
#else
    return "this build has no libtorch or no Gloo headers; run scripts/dependencies and build "
           "again";
#endif
}

std::optional<std::string> live_training_lacks() {
    if (auto lacks = processes_lack()) return lacks;
    if (data::locate(text_id)) return std::nullopt;
    return "no text to train on; `assay data fetch bible-kjv` extracts one from a Debian package";
}

std::filesystem::path live_training_text() {
    if (auto lacks = live_training_lacks())
        throw SampleError(SampleStatus::unsupported, *std::move(lacks));
    return data::locate(text_id).value();
}

std::vector<Input> live_training_inputs() {
    if (auto text = data::input_of(text_id, "text")) return {*std::move(text)};
    return {};
}

}  // namespace assay::tensors
