#include "impls/nn/training/training_state.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <istream>
#include <ostream>

#include "suite/experiment/error.hpp"

namespace assay::nn {
namespace {

constexpr auto format_name = "assay-training-state 1";

nlohmann::json description(const std::vector<ParameterBlock*>& blocks) {
    auto list = nlohmann::json::array();
    for (auto* block : blocks) {
        list.push_back({{"name", block->name()},
                        {"elements", block->count()},
                        {"type", c10::toString(block->values().scalar_type())}});
    }
    return list;
}

nlohmann::json description(const TrainingOptions& options) {
    return {{"steps", options.steps},      {"learning_rate", options.learning_rate},
            {"warmup", options.warmup},    {"decay_to_zero", options.decay_to_zero},
            {"beta1", options.beta1},      {"beta2", options.beta2},
            {"epsilon", options.epsilon},  {"clip", options.clip},
            {"diverged", options.diverged}};
}

[[noreturn]] void fail(const std::string& name, const std::string& why) {
    throw UserError("the checkpoint of training \"" + name + "\" " + why +
                    "; remove it to start anew, or give the settings it was made with");
}

}  // namespace

void write_state(std::ostream& out, const std::string& name,
                 const std::vector<ParameterBlock*>& blocks, const TrainingOptions& options,
                 const TrainingState& state) {
    const nlohmann::json head{{"format", format_name},
                              {"training", name},
                              {"step", state.step},
                              {"first_losses", state.first_losses},
                              {"blocks", description(blocks)},
                              {"options", description(options)},
                              {"extra", state.extra}};
    out << head.dump() << '\n';
    for (auto* block : blocks) {
        for (const auto& part : block->state()) {
            const auto here = part.cpu();
            out.write(static_cast<const char*>(here.const_data_ptr()),
                      static_cast<std::streamsize>(here.nbytes()));
        }
    }
}

TrainingState read_state(std::istream& in, const std::string& name,
                         const std::vector<ParameterBlock*>& blocks,
                         const TrainingOptions& options) {
    std::string line;
    std::getline(in, line);
    const auto head = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!head.is_object() || head.value("format", "") != format_name)
        fail(name, "is not one of this program's version");
    if (head.at("training") != name) fail(name, "is of another training");
    if (head.at("blocks") != description(blocks)) fail(name, "is of a model of another shape");
    if (head.at("options") != description(options)) fail(name, "was made with other options");

    at::NoGradGuard no_grad;
    for (auto* block : blocks) {
        for (auto part : block->state()) {
            auto here = at::empty(part.sizes(), part.options().device(at::kCPU));
            in.read(static_cast<char*>(here.mutable_data_ptr()),
                    static_cast<std::streamsize>(here.nbytes()));
            if (!in) fail(name, "ends early");
            part.copy_(here);
        }
    }
    if (in.peek() != std::istream::traits_type::eof()) fail(name, "is longer than it says");
    return {head.at("step"), head.at("first_losses"), head.at("extra")};
}

}  // namespace assay::nn
