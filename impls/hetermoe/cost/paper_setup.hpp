// What the paper ran and on what, as one table each: its models (Table 2) and clusters (Table 1).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay::hetermoe {

/// A model of Mixtral's architecture. The paper prints layers, hidden size and experts; the rest is
/// Mixtral's: feed-forward networks 3.5 times the hidden size (SwiGLU), heads of 128, a quarter as
/// many key and value heads, 32,000 words, two experts for each token.
struct ModelShape {
    std::string_view name;  ///< "mixtral-d1"
    int layers = 0, hidden = 0, experts = 0;
    int top_k = 2;

    static constexpr double vocabulary = 32000;
    static constexpr double key_share = 0.25;  ///< key and value heads over heads

    double heads() const { return hidden / 128.0; }
    double expert_width() const { return 3.5 * hidden; }
    double expert_parameters() const { return 3 * hidden * expert_width(); }  ///< of one
    /// Of queries, keys, values and output of a layer.
    double projection_parameters() const { return (2 + 2 * key_share) * hidden * hidden; }
    /// Of a layer, experts apart: projections, gate, two norms.
    double dense_layer_parameters() const {
        return projection_parameters() + double(experts) * hidden + 2.0 * hidden;
    }
    double embedding_parameters() const { return 2 * vocabulary * hidden; }  ///< and output head
    /// All layers and the last norm, without embeddings and experts.
    double dense_parameters() const { return layers * dense_layer_parameters() + hidden; }
};

std::span<const ModelShape> paper_models();
/// By name, "mixtral-d1" or "d1". Throws UserError that lists what there is.
const ModelShape& model_shape(std::string_view name);

struct PaperCluster {
    std::string_view name;  ///< "o1"
    std::string_view new_device, old_device;
    int new_gpus = 0, old_gpus = 0;
    double new_memory_gb = 0, old_memory_gb = 0;
    double network_gbps = 0;   ///< of a node; C1 and C2: simulated by sending less
    std::string_view network;  ///< the cluster profile with its links
    std::string_view model;    ///< that goes with it: its experts divide over all GPUs
};

std::span<const PaperCluster> paper_clusters();
/// Throws UserError that lists what there is.
const PaperCluster& paper_cluster(std::string_view name);

}  // namespace assay::hetermoe
