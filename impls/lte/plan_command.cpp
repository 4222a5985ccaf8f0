// `assay plan lte`: what sparse feed-forward networks would save a model of the user's.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/lte/decode_plan.hpp"
#include "impls/model/named_models.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "suite/base/error.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::lte {
namespace {

using nn::TensorType;
constexpr std::array stored_types{TensorType::f32,  TensorType::f16,  TensorType::bf16,
                                  TensorType::q8_0, TensorType::q4_0, TensorType::q4_1};

TensorType tensor_type(const std::string& name) {
    std::vector<std::string_view> names;
    for (const TensorType type : stored_types) {
        if (nn::to_string(type) == name) return type;
        names.push_back(nn::to_string(type));
    }
    throw UserError(
        fmt::format("--weights {}: no such type; there are {}", name, fmt::join(names, ", ")));
}

class PlanCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.description(
            "What a model would save with sparse feed-forward networks: FLOPs, bytes, expected "
            "latency. Arithmetic; nothing is run");
        auto* model = app.add_option("--model", model_,
                                     "GGUF or safetensors file, folder of Hugging Face's layout, "
                                     "or a model of `assay data`")
                          ->type_name("FILE");
        app.add_option("--shape", shape_,
                       fmt::format("a known shape without weights: {}",
                                   fmt::join(model::shape_names(), ", ")))
            ->type_name("NAME")
            ->excludes(model);
        app.add_option("--weights", weights_, "how a shape's weights are stored")
            ->capture_default_str()
            ->type_name("TYPE")
            ->excludes(model);
        app.add_option("--sparsity", sparsities_,
                       "shares of each feed-forward network's experts that are left out, mean "
                       "over tokens and layers")
            ->default_str("0.25,0.5,0.75,0.9")
            ->delimiter(',')
            ->type_name("S[,S…]");
        app.add_option("--device", device_,
                       "device profile for the expected latency: an id of datasets/devices, a "
                       ".toml file, or this-machine")
            ->type_name("PROFILE");
        app.add_option("--batch", batch_, "sequences that a step continues")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--context", context_,
                       fmt::format("tokens of each sequence before the step; without it {}, or all "
                                   "but one of a shorter model's context",
                                   DecodePlanRequest().context))
            ->type_name("N");
        app.add_flag("--json", json_, "print JSON");
        app.footer(
            "Examples:\n"
            "  assay plan lte --model smollm2-135m-instruct --sparsity 0.5,0.75\n"
            "  assay plan lte --shape llama2-7b --sparsity 0.5 --device h200\n"
            "  assay plan lte --model model.gguf --sparsity 0.5 --device this-machine --batch 8 "
            "--json");
    }

    int run() override {
        DecodePlanRequest request;
        request.model = stored();
        request.sparsities = sparsities_;
        request.batch = batch_;
        // The default must suit every model: one whose context is shorter is no error of the
        // user's.
        request.context =
            context_.value_or(std::min(request.context, request.model.config.context - 1));
        if (!device_.empty()) request.device = device_profile(device_);
        const DecodePlan plan = plan_decode(std::move(request));
        if (json_) {
            std::cout << report::printable_dump(to_json(plan)) << '\n';
        } else {
            std::cout << to_text(plan, columns);
        }
        return 0;
    }

  private:
    model::StoredModel stored() const {
        if (!shape_.empty())
            return model::stored_shape(model::named_shape(shape_), tensor_type(weights_));
        if (model_.empty())
            throw UserError("give a model with --model FILE, or a known shape with --shape NAME");
        return model::stored_model(nn::TensorFile(model::locate_file(model_, data::Kind::model)));
    }

    std::string model_, shape_, device_, weights_ = "bf16";
    std::vector<double> sparsities_{0.25, 0.5, 0.75, 0.9};
    int batch_ = 1;
    std::optional<int> context_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace assay::lte
