#include "impls/lazarus/live/messages.hpp"

#include <nlohmann/json.hpp>

#include "impls/lazarus/live/fault_phases.hpp"

namespace assay::lazarus {

using nlohmann::json;

json to_message(const Reconfigure& plan) {
    json transfers = json::array();
    for (const auto& t : plan.transfers) transfers.push_back({t.layer, t.expert, t.from, t.to});
    json message{{"type", "reconfigure"},           {"epoch", plan.epoch},
                 {"members", plan.members},         {"training", plan.training},
                 {"holders", plan.holders},         {"transfers", std::move(transfers)},
                 {"need_dense", plan.need_dense},   {"dense_sources", plan.dense_sources},
                 {"resume_step", plan.resume_step}, {"why", plan.why}};
    if (plan.restore_step) message["restore_step"] = *plan.restore_step;
    return message;
}

Reconfigure reconfigure_from(const json& message) {
    Reconfigure plan;
    plan.epoch = message.at("epoch");
    plan.members = message.at("members").get<std::vector<Worker>>();
    plan.training = message.at("training").get<std::vector<Worker>>();
    plan.holders = message.at("holders").get<std::vector<Placement>>();
    for (const auto& t : message.at("transfers"))
        plan.transfers.push_back({t.at(0), t.at(1), t.at(2), t.at(3)});
    plan.need_dense = message.at("need_dense").get<std::vector<Worker>>();
    plan.dense_sources = message.at("dense_sources").get<std::vector<Worker>>();
    if (message.contains("restore_step"))
        plan.restore_step = message.at("restore_step").get<Step>();
    plan.resume_step = message.at("resume_step");
    plan.why = message.at("why");
    return plan;
}

json to_message(const Go& go) { return {{"type", "go"}, {"epoch", go.epoch}, {"step", go.step}}; }

json to_message(const Commit& commit) {
    return {{"type", "commit"}, {"epoch", commit.epoch}, {"step", commit.step}};
}

json to_message(const Abort& abort) {
    return {{"type", "abort"}, {"epoch", abort.epoch}, {"dead", abort.dead}, {"urgent", true}};
}

json inject_message(const Fault& fault, std::size_t index) {
    const bool transport = fault.kind == FaultKind::link || fault.target == "message";
    return {
        {"type", "inject"}, {"fault", to_string(fault)}, {"index", index}, {"urgent", transport}};
}

Fault injected_from(const json& message) {
    return parse_fault(message.at("fault").get<std::string>(), fault_phases());
}

json to_message(const WriteCheckpoint& checkpoint, Worker owner) {
    json blocks = json::array();
    if (checkpoint.dense_owner == owner) blocks.push_back({dense_key.first, dense_key.second});
    for (std::size_t layer = 0; layer < checkpoint.owners.size(); ++layer)
        for (std::size_t expert = 0; expert < checkpoint.owners[layer].size(); ++expert)
            if (checkpoint.owners[layer][expert] == owner) blocks.push_back({layer, expert});
    return {{"type", "checkpoint"}, {"step", checkpoint.step}, {"blocks", std::move(blocks)}};
}

std::vector<BlockKey> checkpoint_blocks_from(const json& message) {
    return message.at("blocks").get<std::vector<BlockKey>>();
}

json step_done(Epoch epoch, Step step, const StepResult& result) {
    return {{"type", "step_done"},
            {"epoch", epoch},
            {"step", step},
            {"loss", result.loss},
            {"loads", result.loads}};
}

StepDone step_done_from(Worker worker, const json& message) {
    return {worker, message.at("epoch"), message.at("step"),
            message.at("loads").get<std::vector<Loads>>()};
}

json digests_message(const std::map<BlockKey, std::uint64_t>& digests) {
    json list = json::array();
    for (const auto& [key, digest] : digests) list.push_back({key.first, key.second, digest});
    return {{"type", "digests"}, {"digests", std::move(list)}};
}

std::map<BlockKey, std::uint64_t> digests_from(const json& message) {
    std::map<BlockKey, std::uint64_t> digests;
    for (const auto& entry : message.at("digests"))
        digests[{entry.at(0), entry.at(1)}] = entry.at(2).get<std::uint64_t>();
    return digests;
}

json to_json(const TrainingConfig& config) {
    const auto& m = config.model;
    const auto& a = config.adam;
    return {{"layers", m.layers},
            {"width", m.width},
            {"heads", m.heads},
            {"experts", m.experts},
            {"hidden", m.hidden},
            {"context", m.context},
            {"dtype", m.dtype == at::kDouble ? "float64" : "float32"},
            {"learning_rate", a.learning_rate},
            {"beta1", a.beta1},
            {"beta2", a.beta2},
            {"epsilon", a.epsilon},
            {"sequences", config.sequences},
            {"seed", config.seed},
            {"corpus", config.corpus},
            {"group", config.group},
            {"routing", config.routing},
            {"modelled_steps", config.modelled_steps}};
}

TrainingConfig training_config_from(const json& object) {
    TrainingConfig config;
    auto& m = config.model;
    m.layers = object.at("layers");
    m.width = object.at("width");
    m.heads = object.at("heads");
    m.experts = object.at("experts");
    m.hidden = object.at("hidden");
    m.context = object.at("context");
    m.dtype = object.at("dtype") == "float64" ? at::kDouble : at::kFloat;
    config.adam.learning_rate = object.at("learning_rate");
    config.adam.beta1 = object.at("beta1");
    config.adam.beta2 = object.at("beta2");
    config.adam.epsilon = object.at("epsilon");
    config.sequences = object.at("sequences");
    config.seed = object.at("seed");
    config.corpus = object.at("corpus");
    config.group = object.at("group");
    config.routing = object.at("routing");
    config.modelled_steps = object.at("modelled_steps");
    return config;
}

}  // namespace assay::lazarus
