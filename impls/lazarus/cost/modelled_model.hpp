// The model that a small real one stands for: sizes of the paper's GPT models (Table 1), and what a
// real step's numbers become at that size.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "impls/lazarus/policy/dispatch/dispatcher.hpp"
#include "suite/base/describe.hpp"

namespace assay::lazarus {

/// What prices need to know of a model. Its defaults are a GPT-2 shaped one, every feed-forward
/// layer a mixture of experts, top-1 gate (paper section 6.1).
struct ModelledModel {
    std::string name;         ///< "gpt-s"
    int layers = 12;          ///< with experts
    int width = 768;          ///< d
    int experts = 8;          ///< of a layer, routed
    int top_k = 1;            ///< of them for each token
    int shared_experts = 0;   ///< of a layer, each as large as a routed one, for every token
    int expert_hidden = 0;    ///< 0: 4d
    int expert_matrices = 2;  ///< of d × hidden each: two, or three with a gate (SwiGLU)
    int dense_layers = 0;     ///< before those with experts; each as wide as the experts that a
                              ///< token passes elsewhere (top_k + shared_experts)
    double attention_parameters_of_layer = 0;  ///< 0: 4d²
    double attention_flops_of_pair = 0;        ///< per pair of tokens, causality halved; 0: 2d
    bool head_tied = true;                     ///< logits by the embedding's weights
    int context = 1024;                        ///< tokens per sequence
    int sequences = 4;                         ///< per GPU and step
    int vocabulary = 50257;
    int group = 2;           ///< expert-parallel degree of DeepSpeed-MoE in the paper
    double value_bytes = 2;  ///< of a weight in use, an activation, a gradient: fp16

    double expert_parameters() const {
        return double(expert_matrices) * width * (expert_hidden > 0 ? expert_hidden : 4 * width);
    }
    double attention_parameters() const {
        return attention_parameters_of_layer > 0 ? attention_parameters_of_layer
                                                 : 4.0 * width * width;
    }
    double attention_pair_flops() const {
        return attention_flops_of_pair > 0 ? attention_flops_of_pair : 2.0 * width;
    }
    /// Everything but routed experts: attention, gates, embeddings, shared experts, dense layers.
    double dense_parameters() const;
    double parameters() const;
    double tokens() const { return double(context) * sequences; }  ///< per GPU and step
    double rows() const { return tokens() * top_k; }               ///< of them, to experts
    static constexpr double state_bytes = 14;  ///< per parameter: fp16 weight, fp32 master, m, v
};

/// "gpt-s", "gpt-m", "gpt-l" (Table 1), "deepseek-v3" (section 6.7; DeepSeek-V3's report, arXiv
/// 2412.19437, section 4.2: without its multi-token prediction, at 16-bit values throughout, with
/// positions costing nothing). Throws UserError for others.
ModelledModel modelled_model(const std::string& name);

/// How a node with several GPUs deals its replicas to them (policy/plan/within_node.hpp). history:
/// by the loads that the plan was made from. blocks: in order, whatever the loads; so do nodes of
/// fixed groups in any case.
enum class Deal { history, blocks };
ASSAY_NAMES(Deal, history, blocks)

/// How a real training stands for a modelled one.
struct Modelling {
    ModelledModel model;
    std::string cluster;     ///< id or file of the cluster profile
    int real_layers = 12;    ///< each stands for model.layers / real_layers
    double real_tokens = 0;  ///< per rank and real step: stand for model.rows()
    int modelled_steps = 1;  ///< M: modelled steps that one real step stands for
    DispatchRule dispatch;   ///< how tokens find their experts
    double overlap = 0;      ///< 0 to 1, see StepTimeline: not published, hence a parameter
    int accumulation = 1;    ///< modelled steps whose gradients are summed and applied at once
    /// Of a worker, each a rank of its own: a node's replicas are dealt to them
    /// (policy/plan/within_node.hpp), what is no expert is split among them (tensor parallelism).
    int gpus_per_worker = 1;
    Deal deal = Deal::history;  ///< makes no difference to workers with one GPU
    /// Back to a checkpoint each worker reads what it is to hold from the shared store; or else one
    /// copy is read, and travels on between those that hold the same.
    bool each_reads_its_own = true;
    double layers_per_layer() const { return double(model.layers) / real_layers; }
};

nlohmann::json to_json(const Modelling&);
Modelling modelling_from(const nlohmann::json&);

}  // namespace assay::lazarus
