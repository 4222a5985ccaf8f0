#include "impls/tensors/needs.hpp"

#include "impls/tensors/module.hpp"
#include "suite/data/catalog.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::tensors {
namespace {

constexpr const char* text_id = "bible-kjv";

}  // namespace

std::optional<std::string> lacks(Needs needs) {
    if (needs != Needs::tensors && !ASSAY_PROCESSES)
        return "this build has no libtorch or no Gloo headers; run scripts/dependencies and build "
               "again";
    if (auto reason = module_lacks()) return reason;
    if (needs == Needs::text && !data::locate(text_id))
        return "no text to train on; `assay data fetch bible-kjv` extracts one from a Debian "
               "package";
    return std::nullopt;
}

std::vector<Input> inputs_of(Needs needs) {
    if (needs == Needs::text)
        if (auto text = data::input_of(text_id, "text")) return {*std::move(text)};
    return {};
}

std::filesystem::path training_text() {
    if (auto reason = lacks(Needs::text))
        throw SampleError(SampleStatus::unsupported, *std::move(reason));
    return data::locate(text_id).value();
}

}  // namespace assay::tensors
