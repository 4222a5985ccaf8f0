// A decode plan for people, and for programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "impls/lte/decode_plan.hpp"
#include "kernels/sparse_ffn/experts.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::lte {
namespace {

std::vector<std::string> assumptions(const DecodePlan& plan) {
    const DecodePlanRequest& request = plan.request;
    std::vector<std::string> list{
        "a token also costs attention over the cache and the output matrix, which sparsity does "
        "not "
        "make smaller; the paper's Table 1 leaves both out, so that its saving is larger",
        "routers and cache are stored in 16 bits (assumed: a model file has neither)",
        fmt::format(
            "each step adds one token to {} with {} tokens in the cache",
            request.batch == 1 ? "a sequence" : fmt::format("each of {} sequences", request.batch),
            request.context)};
    if (request.batch > 1)
        list.emplace_back(
            "tokens of a batch activate experts independently of one another, each with the same "
            "probability, so that the union leaves sparsity^batch out; tokens that share experts "
            "leave out more");
    if (request.device)
        list.emplace_back(
            "expected time is a bound, not a measurement: for each part the longer of bytes over "
            "bandwidth and FLOPs over peak, at the profile's efficiencies; kernel launches, "
            "dequantisation, norms and waiting are left out");
    return list;
}

/// In lines of so many columns, the later ones two in.
std::string sentence(const std::string& text, std::size_t columns) {
    std::string out;
    for (const std::string& line : report::wrapped(text, columns - 2))
        out += (out.empty() ? "" : "  ") + line + '\n';
    return out;
}

std::string shape_text(const model::StoredModel& model, std::size_t columns) {
    const nn::DecoderConfig& c = model.config;
    return sentence(fmt::format("{} ({}), {} with {}", c.name.empty() ? "model" : c.name,
                                model.origin, nn::to_string(c.family), nn::to_string(c.activation)),
                    columns) +
           sentence(fmt::format("{} layers, width {}, {} neurons per feed-forward network: {} "
                                "experts of {}",
                                c.layers, c.width, c.hidden, experts_per_layer(c),
                                kernels::neurons_per_expert),
                    columns) +
           sentence(
               fmt::format("stored as: attention {}, feed-forward {}, output {}",
                           model.attention.types, model.feed_forward.types, model.output.types),
               columns);
}

std::string sparsity_text(const DecodePoint& point) {
    return point.sparsity ? fmt::format("{:.4g}", *point.sparsity) : "dense";
}

std::string device_text(const DeviceProfile& device) {
    return fmt::format(
        "on {} ({}): {:.4g} GB/s times {:.2g} ({}), {:.4g} TFLOP/s times {:.2g} ({})", device.id,
        device.says, device.memory_bandwidth.value / 1e9, device.memory_efficiency.value,
        device.memory_efficiency.kind, device.matmul_flops.value / 1e12,
        device.matmul_efficiency.value, device.matmul_efficiency.kind);
}

std::vector<const DecodePoint*> rows(const DecodePlan& plan) {
    std::vector<const DecodePoint*> list{&plan.dense};
    for (const DecodePoint& point : plan.points) list.push_back(&point);
    return list;
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

report::Grid layer_grid(const DecodePlan& plan) {
    report::Grid grid{{"sparsity", "attention", "ffn", "router", "layer", "saved"}};
    for (const DecodePoint* point : rows(plan)) {
        grid.push_back({sparsity_text(*point)});
        for (const double flops :
             {point->layer.attention, point->layer.ffn, point->layer.router, point->layer.total()})
            grid.back().push_back(fmt::format("{:.5g}", flops / 1e6));
        grid.back().push_back(percent(point->saved_layers_flops));
    }
    return grid;
}

/// A column per part that has any.
report::Grid part_grid(const DecodePlan& plan, double model::PartWork::*member) {
    const bool bytes = member == &model::PartWork::bytes;
    report::Grid grid{{"sparsity"}};
    if (bytes) grid[0].emplace_back("union");
    const auto is_none = [&](std::size_t part) {
        for (const DecodePoint* point : rows(plan))
            if (point->parts[part].*member != 0) return false;
        return true;
    };
    for (const DecodePoint* point : rows(plan)) {
        grid.push_back({sparsity_text(*point)});
        if (bytes) grid.back().push_back(fmt::format("{:.4g}", point->union_sparsity));
        for (std::size_t part = 0; part < point->parts.size(); ++part) {
            if (is_none(part)) continue;
            if (point == &plan.dense) grid[0].push_back(point->parts[part].part);
            grid.back().push_back(
                fmt::format("{:.5g}", point->parts[part].*member / plan.request.batch / 1e6));
        }
        const double all = bytes ? point->bytes() : point->flops();
        grid.back().push_back(fmt::format("{:.5g}", all / plan.request.batch / 1e6));
        grid.back().push_back(percent(bytes ? point->saved_bytes : point->saved_flops));
    }
    grid[0].emplace_back("all");
    grid[0].emplace_back("saved");
    return grid;
}

report::Grid time_grid(const DecodePlan& plan) {
    report::Grid grid{{"sparsity", "per step", "tokens/s", "speed-up"}};
    for (const DecodePoint* point : rows(plan))
        grid.push_back({sparsity_text(*point), fmt::format("{:.4g} ms", 1e3 * *point->expected_s),
                        fmt::format("{:.4g}", plan.request.batch / *point->expected_s),
                        fmt::format("{:.3g}", *plan.dense.expected_s / *point->expected_s)});
    return grid;
}

nlohmann::json to_json(const DecodePoint& point, const DecodePlan& plan) {
    using nlohmann::json;
    const double layers = plan.request.model.config.layers, batch = plan.request.batch;
    json flops = json::object(), bytes = json::object();
    for (const model::PartWork& part : point.parts) {
        flops[part.part] = part.flops / batch;
        bytes[part.part] = part.bytes / batch;
    }
    json result{{"sparsity", point.sparsity ? json(*point.sparsity) : json()},
                {"union_sparsity", point.union_sparsity},
                {"layer_flops",
                 {{"attention", point.layer.attention},
                  {"ffn", point.layer.ffn},
                  {"router", point.layer.router},
                  {"total", point.layer.total()}}},
                {"layers_flops_per_token", layers * point.layer.total()},
                {"flops_per_token", point.flops() / batch},
                {"bytes_per_token", point.bytes() / batch},
                {"flops_by_part", std::move(flops)},
                {"bytes_by_part", std::move(bytes)},
                {"saved_flops", point.saved_flops},
                {"saved_layers_flops", point.saved_layers_flops},
                {"saved_bytes", point.saved_bytes},
                {"expected_s", nullptr},
                {"expected_tokens_per_s", nullptr},
                {"expected_speedup", nullptr}};
    if (point.expected_s) {
        result["expected_s"] = *point.expected_s;
        result["expected_tokens_per_s"] = batch / *point.expected_s;
        result["expected_speedup"] = *plan.dense.expected_s / *point.expected_s;
    }
    return result;
}

}  // namespace

std::string to_text(const DecodePlan& plan, std::size_t columns) {
    const DecodePlanRequest& request = plan.request;
    std::string text = shape_text(request.model, columns);
    if (request.device) text += sentence(device_text(*request.device), columns);
    text +=
        '\n' + sentence(
                   "MFLOP of one layer and one token, as in Table 1: no attention over the cache, "
                   "no output matrix",
                   columns);
    text += report::text_tables(layer_grid(plan), 1, columns);
    text += '\n' + sentence("MFLOP per token, all of it", columns);
    text += report::text_tables(part_grid(plan, &model::PartWork::flops), 1, columns);
    text += '\n' + sentence(fmt::format("MB to read per token, all of it{}",
                                        request.batch > 1 ? ", shared by the batch" : ""),
                            columns);
    text += report::text_tables(part_grid(plan, &model::PartWork::bytes), 1, columns);
    if (request.device)
        text += '\n' + sentence("Time: a bound, not a measurement", columns) +
                report::text_tables(time_grid(plan), 1, columns);
    text += '\n';
    for (const std::string& assumption : assumptions(plan))
        text += sentence("* " + assumption, columns);
    return text;
}

nlohmann::json to_json(const DecodePlan& plan) {
    using nlohmann::json;
    const DecodePlanRequest& request = plan.request;
    const model::StoredModel& model = request.model;
    const nn::DecoderConfig& c = model.config;
    json points = json::array();
    for (const DecodePoint& point : plan.points) points.push_back(to_json(point, plan));
    return {{"model",
             {{"name", c.name},
              {"origin", model.origin},
              {"family", nn::to_string(c.family)},
              {"activation", nn::to_string(c.activation)},
              {"layers", c.layers},
              {"width", c.width},
              {"neurons", c.hidden},
              {"vocabulary", c.vocabulary},
              {"parameters", c.parameters()}}},
            {"experts",
             {{"neurons", kernels::neurons_per_expert}, {"per_layer", experts_per_layer(c)}}},
            {"stored_as",
             {{"attention", model.attention.types},
              {"ffn", model.feed_forward.types},
              {"output", model.output.types}}},
            {"batch", request.batch},
            {"context", request.context},
            {"device", request.device ? assay::to_json(*request.device) : json()},
            {"dense", to_json(plan.dense, plan)},
            {"points", std::move(points)},
            {"assumptions", assumptions(plan)}};
}

}  // namespace assay::lte
