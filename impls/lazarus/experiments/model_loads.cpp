#include "impls/lazarus/experiments/model_loads.hpp"

#include <fmt/format.h>

#include "impls/lazarus/data/routing_trace.hpp"
#include "impls/lazarus/data/synthetic_routing.hpp"
#include "suite/base/error.hpp"
#include "suite/data/catalog.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

constexpr const char* trace_id = "smartmoe-loads";

bool is_public(const std::string& trace) { return trace == "smartmoe"; }

// The user's own; nothing where the axis names one of the two known traces.
std::optional<std::filesystem::path> own_file(const std::string& trace) {
    if (trace == "smartmoe" || trace == "synthetic") return std::nullopt;
    return std::filesystem::absolute(trace);
}

// The trace has every tenth iteration, from the first; these are the nearest to the paper's steps.
std::int64_t trace_iteration(std::int64_t step) { return step == 200 ? 201 : 3991; }

}  // namespace

std::optional<std::string> missing_trace(const std::string& trace) {
    if (!is_public(trace) || data::locate(trace_id)) return std::nullopt;
    return fmt::format(
        "the SmartMoE routing trace is not on this machine; import it with `{}`, or take `-a "
        "trace=synthetic`",
        data::fetch_command(data::find(trace_id)));
}

std::vector<Loads> model_loads(const std::string& trace, std::uint64_t seed, std::int64_t step,
                               int layers, int experts) {
    std::vector<Loads> loads;
    if (is_public(trace)) {
        const auto file = data::locate(trace_id);
        if (!file) throw SampleError(SampleStatus::unsupported, missing_trace(trace).value());
        loads = read_routing_trace(*file).at(trace_iteration(step), layers);
    } else {
        loads = synthetic_routing(seed, step, layers);
    }
    for (Loads& layer : loads) layer = most_loaded(layer, experts);
    return loads;
}

std::vector<Loads> skewed_loads(int layers, int experts, std::mt19937_64& random) {
    std::vector<Loads> loads(static_cast<std::size_t>(layers));
    for (Loads& layer : loads) {
        for (int e = 0; e < experts; ++e) {
            layer.push_back(static_cast<Tokens>(1 + (random() % 1000) * (random() % 1000) /
                                                        (1 + random() % 100)));
        }
    }
    return loads;
}

void check_routing_file(const std::string& trace, int layers, int experts) {
    const auto file = own_file(trace);
    if (!file) return;
    if (!std::filesystem::is_regular_file(*file))
        throw UserError(fmt::format(
            "axis trace: no file {}; give synthetic, smartmoe, or a CSV file with the header "
            "iteration,layer,e0,e1,…",
            file->string()));
    const RoutingTrace routing = read_routing_trace(*file);
    if (routing.experts() < experts)
        throw UserError(fmt::format("axis trace: {} has {} experts, the model {}", file->string(),
                                    routing.experts(), experts));
    for (const std::int64_t iteration : routing.iterations()) routing.at(iteration, layers);
}

std::vector<Input> trace_inputs(const std::string& trace) {
    if (auto file = own_file(trace)) return {{"routing trace", *std::move(file), ""}};
    if (!is_public(trace)) return {};
    if (auto file = data::input_of(trace_id, "routing trace")) return {*std::move(file)};
    return {};
}

std::string routing_source(const std::string& trace) {
    if (const auto file = own_file(trace)) return file->string();
    if (!is_public(trace)) return "synthetic";
    if (auto reason = missing_trace(trace))
        throw SampleError(SampleStatus::unsupported, *std::move(reason));
    return data::locate(trace_id)->string();
}

}  // namespace assay::lazarus
