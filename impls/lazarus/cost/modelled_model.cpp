#include "impls/lazarus/cost/modelled_model.hpp"

#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"

namespace assay::lazarus {

double ModelledModel::dense_parameters() const {
    const double d = width;
    // Of a tied head the table of positions is learned too, as in GPT-2.
    const double embeddings = d * (head_tied ? double(vocabulary) + context : 2.0 * vocabulary);
    return layers * (attention_parameters() + d * experts + shared_experts * expert_parameters()) +
           dense_layers *
               (attention_parameters() + (top_k + shared_experts) * expert_parameters()) +
           embeddings;
}

double ModelledModel::parameters() const {
    return dense_parameters() + double(layers) * experts * expert_parameters();
}

ModelledModel modelled_model(const std::string& name) {
    ModelledModel model;
    model.name = name;
    if (name == "gpt-s") {
        model.width = 768, model.experts = 8, model.group = 2;
    } else if (name == "gpt-m") {
        model.width = 1024, model.experts = 12, model.group = 2;
    } else if (name == "gpt-l") {
        model.width = 1024, model.experts = 16, model.group = 4;
    } else if (name == "deepseek-v3") {
        model.layers = 58, model.dense_layers = 3, model.width = 7168;
        model.experts = 256, model.top_k = 8, model.shared_experts = 1;
        model.expert_hidden = 2048, model.expert_matrices = 3;
        model.context = 4096, model.vocabulary = 129280, model.head_tied = false;
        // Multi-head latent attention: queries through 1536, keys and values through 512 (and 64
        // for positions), 128 heads of 128 (+ 64), and the way out.
        const double d = model.width, heads = 128, head = 128, position = 64;
        model.attention_parameters_of_layer = d * 1536 + 1536 * heads * (head + position) +
                                              d * (512 + position) + 512 * heads * (head + head) +
                                              heads * head * d;
        model.attention_flops_of_pair = heads * (head + position + head);
        model.group = 64;  // of GPUs: 256 experts, 4 on each (section 6.7)
    } else {
        throw UserError("no modelled model '" + name +
                        "'; known are gpt-s, gpt-m, gpt-l, deepseek-v3");
    }
    return model;
}

nlohmann::json to_json(const Modelling& modelling) {
    return {{"model", modelling.model.name},
            {"cluster", modelling.cluster},
            {"real_layers", modelling.real_layers},
            {"real_tokens", modelling.real_tokens},
            {"modelled_steps", modelling.modelled_steps},
            {"dispatch", to_string(modelling.dispatch.kind)},
            {"group", modelling.dispatch.group},
            {"pipeline", modelling.dispatch.pipeline},
            {"spill",
             {{"capacity", modelling.dispatch.limits.capacity},
              {"fewest", modelling.dispatch.limits.fewest},
              {"imbalance", modelling.dispatch.limits.imbalance}}},
            {"overlap", modelling.overlap},
            {"accumulation", modelling.accumulation},
            {"gpus_per_worker", modelling.gpus_per_worker},
            {"deal", to_string(modelling.deal)},
            {"each_reads_its_own", modelling.each_reads_its_own}};
}

Modelling modelling_from(const nlohmann::json& object) {
    Modelling modelling;
    modelling.model = modelled_model(object.at("model"));
    modelling.cluster = object.at("cluster");
    modelling.real_layers = object.at("real_layers");
    modelling.real_tokens = object.at("real_tokens");
    modelling.modelled_steps = object.at("modelled_steps");
    const auto kind = of_word<DispatchRule::Kind>(object.at("dispatch").get<std::string>());
    const auto& spill = object.at("spill");
    modelling.dispatch = {.kind = kind.value(),
                          .group = object.at("group"),
                          .pipeline = object.at("pipeline"),
                          .limits = {.capacity = spill.at("capacity"),
                                     .fewest = spill.at("fewest"),
                                     .imbalance = spill.at("imbalance")}};
    modelling.overlap = object.at("overlap");
    modelling.accumulation = object.at("accumulation");
    modelling.gpus_per_worker = object.at("gpus_per_worker");
    modelling.deal = of_word<Deal>(object.at("deal").get<std::string>()).value();
    modelling.each_reads_its_own = object.at("each_reads_its_own");
    return modelling;
}

}  // namespace assay::lazarus
