// A decode plan for people, and for programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "impls/lte/decode_plan.hpp"
#include "kernels/sparse_ffn/experts.hpp"

namespace assay::lte {
namespace {

std::vector<std::string> assumptions(const DecodePlan& plan) {
    const DecodePlanRequest& request = plan.request;
    std::vector<std::string> list{
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

std::string shape_text(const model::StoredModel& model) {
    const nn::DecoderConfig& c = model.config;
    return fmt::format(
        "{} ({}), {} with {}\n"
        "{} layers, width {}, {} neurons per feed-forward network: {} experts of {}\n"
        "stored as: attention {}, feed-forward {}, output {}\n",
        c.name.empty() ? "model" : c.name, model.origin, nn::to_string(c.family),
        nn::to_string(c.activation), c.layers, c.width, c.hidden, experts_per_layer(c),
        kernels::neurons_per_expert, model.attention.types, model.feed_forward.types,
        model.output.types);
}

std::string sparsity_text(const DecodePoint& point) {
    return point.sparsity ? fmt::format("{:.4g}", *point.sparsity) : "dense";
}

std::string device_text(const DeviceProfile& device) {
    return fmt::format(
        "on {} ({}): {:.4g} GB/s times {:.2g} ({}), {:.4g} TFLOP/s times {:.2g} ({})\n", device.id,
        device.says, device.memory_bandwidth.value / 1e9, device.memory_efficiency.value,
        device.memory_efficiency.kind, device.matmul_flops.value / 1e12,
        device.matmul_efficiency.value, device.matmul_efficiency.kind);
}

std::vector<const DecodePoint*> rows(const DecodePlan& plan) {
    std::vector<const DecodePoint*> list{&plan.dense};
    for (const DecodePoint& point : plan.points) list.push_back(&point);
    return list;
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

std::string to_text(const DecodePlan& plan) {
    const DecodePlanRequest& request = plan.request;
    const double batch = request.batch;
    std::string text = shape_text(request.model);
    if (request.device) text += device_text(*request.device);

    text += "\nMFLOP of one layer and one token\n";
    text += fmt::format("{:>8}  {:>9}  {:>9}  {:>9}  {:>9}  {:>7}\n", "sparsity", "attention",
                        "ffn", "router", "layer", "saved");
    for (const DecodePoint* point : rows(plan))
        text += fmt::format("{:>8}  {:>9.5g}  {:>9.5g}  {:>9.5g}  {:>9.5g}  {:>6.1f}%\n",
                            sparsity_text(*point), point->layer.attention / 1e6,
                            point->layer.ffn / 1e6, point->layer.router / 1e6,
                            point->layer.total() / 1e6, 100 * point->saved_flops);

    text +=
        fmt::format("\nMB to read per token{}\n", request.batch > 1 ? ", shared by the batch" : "");
    text += fmt::format("{:>8}  {:>8}", "sparsity", "union");
    for (const model::PartWork& part : plan.dense.parts) text += fmt::format("  {:>9}", part.part);
    text += fmt::format("  {:>9}  {:>7}", "all", "saved");
    if (request.device) text += fmt::format("  {:>11}  {:>9}", "expected", "tokens/s");
    text += '\n';
    for (const DecodePoint* point : rows(plan)) {
        text += fmt::format("{:>8}  {:>8.4g}", sparsity_text(*point), point->union_sparsity);
        for (const model::PartWork& part : point->parts)
            text += fmt::format("  {:>9.5g}", part.bytes / batch / 1e6);
        text += fmt::format("  {:>9.5g}  {:>6.1f}%", point->bytes() / batch / 1e6,
                            100 * point->saved_bytes);
        if (point->expected_s)
            text += fmt::format("  {:>8.4g} ms  {:>9.4g}", 1e3 * *point->expected_s,
                                batch / *point->expected_s);
        text += '\n';
    }
    text += '\n';
    for (const std::string& assumption : assumptions(plan)) text += "* " + assumption + "\n";
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
