// assay calibrate lazarus: what the cost model prices, and what the paper's rates imply for it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "impls/lazarus/commands/anchor_text.hpp"
#include "impls/lazarus/commands/commands.hpp"
#include "impls/lazarus/cost/step_operations.hpp"
#include "impls/lazarus/experiments/model_loads.hpp"
#include "impls/lazarus/spot/spot_training.hpp"
#include "suite/base/datasets.hpp"
#include "suite/base/durable_file.hpp"
#include "suite/base/error.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::lazarus {
namespace {

constexpr double slots = 6;  // section 6.1

/// An operation on the model with even loads, and what prices it.
struct PricedOperation {
    StepOperation operation;
    Work work;
    double seconds = 0;     ///< once, forward
    std::string priced_by;  ///< the numbers of the device profile
};

Operation operation_named(std::string_view name, const ModelledModel& model) {
    if (name == "attention") return attention_operation(model);
    if (name == "experts") return experts_operation(model, slots, model.tokens());
    if (name == "head") return head_operation(model);
    return optimizer_operation(model.dense_parameters() +
                               slots * model.layers * model.expert_parameters());
}

std::string pricing(const DeviceProfile& device, const Operation& operation) {
    const auto number = [](const char* name, const Sourced& share) {
        return fmt::format("{} {} ({})", name, report::number(share.value), share.kind);
    };
    if (const auto own = device.operations.find(operation.name); own != device.operations.end())
        return number("its own efficiency", own->second.efficiency);
    const Work& work = operation.work;
    const bool calculates = work.flops / reached(device.matmul_flops, device.matmul_efficiency) >=
                            work.bytes / reached(device.memory_bandwidth, device.memory_efficiency);
    return calculates ? number("matmul_efficiency", device.matmul_efficiency)
                      : number("memory_efficiency", device.memory_efficiency);
}

std::vector<PricedOperation> priced(const CostModel& costs, const ModelledModel& model) {
    std::vector<PricedOperation> all;
    for (const StepOperation& one : step_operations()) {
        const Operation operation = operation_named(one.name, model);
        all.push_back({.operation = one,
                       .work = operation.work,
                       .seconds = costs.compute(0, operation),
                       .priced_by = pricing(costs.device(0), operation)});
    }
    return all;
}

std::string to_text(const std::vector<PricedOperation>& operations, std::size_t columns) {
    report::Grid grid{{"operation", "times", "FLOP", "bytes", "kernels", "ms", "priced by"}};
    std::string says;
    for (const auto& [operation, work, seconds, priced_by] : operations) {
        grid.push_back({operation.name, operation.times, report::number(work.flops),
                        report::number(work.bytes), report::number(work.kernels),
                        report::number(1000 * seconds), priced_by});
        says += fmt::format("{}: {}{}\n", operation.name, operation.says,
                            operation.has_backward
                                ? fmt::format("; backward {} times the work", backward_over_forward)
                                : "");
    }
    return report::text_tables(grid, 1, columns) + says;
}

nlohmann::json to_json(const std::vector<PricedOperation>& operations) {
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& [operation, work, seconds, priced_by] : operations)
        rows.push_back({{"operation", operation.name},
                        {"says", operation.says},
                        {"times", operation.times},
                        {"flops", work.flops},
                        {"bytes", work.bytes},
                        {"kernels", work.kernels},
                        {"seconds", seconds},
                        {"backward", operation.has_backward ? backward_over_forward : 0},
                        {"priced_by", priced_by}});
    return rows;
}

class CostsCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.description("What the cost model of Lazarus prices, and what the paper implies for it");
        app.add_option("--model", model_, "gpt-s, gpt-m or gpt-l")
            ->capture_default_str()
            ->check(CLI::IsMember({"gpt-s", "gpt-m", "gpt-l"}))
            ->type_name("NAME");
        app.add_option("--cluster", cluster_, "an id of datasets/clusters, or a file")
            ->capture_default_str()
            ->type_name("NAME");
        app.add_flag("--anchors", anchors_,
                     "the two rates that the paper has for undisturbed trainings of GPT-M: which "
                     "overlap of gradient sums and backward pass they imply, and which shares of "
                     "their peaks computing and links would have to reach");
        app.add_option("--trace", trace_,
                       "with --anchors, the routing that is replayed: smartmoe (as in the paper), "
                       "synthetic, or a CSV file iteration,layer,e0,e1,…")
            ->capture_default_str()
            ->type_name("NAME");
        app.add_option("--meet", meet_,
                       "the claim of one of the two rates: fit matmul_efficiency of the cluster's "
                       "device so that it is met, for -o; the profile names the claim, which is no "
                       "evidence where it is used")
            ->type_name("CLAIM");
        app.add_option("--overlap", overlap_, "with --meet, 0 to 1")
            ->capture_default_str()
            ->type_name("SHARE");
        app.add_option("-o,--output", output_, "with --meet, where the device profile goes")
            ->type_name("FILE");
        app.add_flag("--json", json_,
                     "print JSON: {\"operations\"}, with --anchors "
                     "{\"profile\",\"anchors\",\"curve\"}");
        app.footer(
            "Operations are those of one rank, with even loads and six slots; a device profile "
            "may know what it\nreaches of each (`assay calibrate fit` writes such a one).\n"
            "Examples:\n"
            "  assay calibrate lazarus --model gpt-l\n"
            "  assay calibrate lazarus --anchors --trace synthetic");
    }

    int run() override {
        const ClusterProfile cluster = cluster_profile(cluster_);
        if (!meet_.empty()) return run_meet(cluster);
        if (!output_.empty())
            throw UserError("-o needs --meet: it writes a profile that is fitted");
        if (anchors_) return run_anchors(cluster);
        const CostModel costs(cluster);
        const ModelledModel model = modelled_model(model_);
        const auto operations = priced(costs, model);
        if (json_) {
            std::cout << nlohmann::json{{"operations", to_json(operations)}}.dump() << '\n';
            return 0;
        }
        std::cout << fmt::format("A step of {} on one rank ({}), forward, even loads:\n{}",
                                 model.name, report::printable(costs.device(0).says),
                                 to_text(operations, columns));
        return 0;
    }

  private:
    std::vector<AnchoredTraining> anchored(const ClusterProfile& cluster) const {
        if (const auto missing = missing_trace(trace_)) throw NotSupportedHere(*missing);
        check_routing_file(trace_, SpotTraining().real_layers, modelled_model("gpt-m").experts);
        const auto claims = read_claims(datasets_dir() / "claims" / "lazarus.toml");
        std::vector<AnchoredTraining> trainings;
        for (const Anchor& anchor : anchors_among(claims))
            trainings.emplace_back(anchor, cluster, routing_source(trace_));
        return trainings;
    }

    int run_anchors(const ClusterProfile& cluster) const {
        const AnchorFindings findings = find_implied(anchored(cluster));
        if (json_)
            std::cout << lazarus::to_json(findings).dump() << '\n';
        else
            std::cout << lazarus::to_text(findings, columns);
        return 0;
    }

    int run_meet(const ClusterProfile& cluster) const {
        if (output_.empty()) throw UserError("--meet needs -o FILE, where the profile goes");
        if (std::string why = missing_folder(output_); !why.empty())
            throw UserError(fmt::format("-o: {}", why));
        if (!(overlap_ >= 0 && overlap_ <= 1))
            throw UserError(fmt::format("--overlap {}: a share, 0 to 1", overlap_));
        if (std::set(cluster.devices.begin(), cluster.devices.end()).size() > 1)
            throw UserError(fmt::format("--meet fits one device, and {} has several", cluster.id));
        const auto trainings = anchored(cluster);
        const auto training =
            std::find_if(trainings.begin(), trainings.end(),
                         [&](const AnchoredTraining& one) { return one.anchor().claim == meet_; });
        if (training == trainings.end())
            throw UserError(fmt::format("--meet {}: the rates are {} and {}", meet_,
                                        trainings.front().anchor().claim,
                                        trainings.back().anchor().claim));
        const auto share = training->matmul_for(overlap_);
        if (!share)
            throw UserError(fmt::format(
                "no matmul_efficiency from 0.02 to 1 meets {} at overlap {}", meet_, overlap_));
        DeviceProfile device = device_profile(cluster.devices.front());
        device.id += "-met";
        device.matmul_efficiency = {
            *share,
            "fitted",
            fmt::format(
                "assay calibrate lazarus --meet: so that GPT-M on ten nodes of {} trains {} "
                "sequences/s at overlap {}, link_efficiency {}, routing {}",
                cluster.id, training->anchor().rate, overlap_, cluster.link_efficiency.value,
                trace_),
            {meet_}};
        std::ofstream file(output_);
        if (!(file << to_toml(device)) || !file.flush())
            throw UserError(fmt::format("-o {}: cannot be written", output_));
        std::cout << fmt::format("matmul_efficiency {} meets {} at overlap {}; written to {}\n",
                                 report::number(*share), meet_, overlap_,
                                 report::printable(output_));
        return 0;
    }

    std::string model_ = "gpt-m", cluster_ = "lazarus-testbed", trace_ = "smartmoe";
    std::string meet_, output_;
    double overlap_ = 0;
    bool anchors_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_costs_command() { return std::make_unique<CostsCommand>(); }

}  // namespace assay::lazarus
