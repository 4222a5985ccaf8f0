// The model that a small real one stands for: sizes of the paper's GPT models (Table 1), and what a
// real step's numbers become at that size.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace assay::lazarus {

/// A GPT-2 shaped model, every feed-forward layer a mixture of experts, top-1 gate (paper
/// section 6.1).
struct ModelledModel {
    std::string name;  ///< "gpt-s"
    int layers = 12;
    int width = 768;  ///< d; an expert's hidden width is 4d
    int experts = 8;
    int context = 1024;  ///< tokens per sequence
    int sequences = 4;   ///< per GPU and step
    int vocabulary = 50257;
    int group = 2;           ///< expert-parallel degree of DeepSpeed-MoE in the paper
    double value_bytes = 2;  ///< of a weight in use, an activation, a gradient: fp16

    double expert_parameters() const { return 8.0 * width * width; }
    /// Everything else: attention (4d² per layer), gates, embeddings.
    double dense_parameters() const;
    double parameters() const;
    double tokens() const { return double(context) * sequences; }  ///< per GPU and step
    static constexpr double state_bytes = 14;  ///< per parameter: fp16 weight, fp32 master, m, v
};

/// "gpt-s", "gpt-m", "gpt-l". Throws UserError for others.
ModelledModel modelled_model(const std::string& name);

/// How a real training stands for a modelled one.
struct Modelling {
    ModelledModel model;
    std::string cluster;     ///< id or file of the cluster profile
    int real_layers = 12;    ///< each stands for model.layers / real_layers
    double real_tokens = 0;  ///< per worker and real step: stand for model.tokens()
    int modelled_steps = 1;  ///< M: modelled steps that one real step stands for
    int group = 0;           ///< > 0: fixed expert parallelism with padded exchange
    double overlap = 0;      ///< 0 to 1, see StepTimeline: not published, hence a parameter
    int accumulation = 1;    ///< modelled steps whose gradients are summed and applied at once
    double layers_per_layer() const { return double(model.layers) / real_layers; }
};

nlohmann::json to_json(const Modelling&);
Modelling modelling_from(const nlohmann::json&);

}  // namespace assay::lazarus
