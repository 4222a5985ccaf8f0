// Linear maps whose weights learn from chosen rows only (§2.2 of the specification). General rows
// and target rows run through the model together; on the way back every map scores its general rows
// against the target rows, and its weight's gradient is put together from those that are chosen.
// Target rows steer, and leave no gradient of their own anywhere.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "impls/dr_post_training/method/scoring.hpp"
#include "impls/dr_post_training/policy/sets/constraint_set.hpp"
#include "impls/nn/decoder_layers.hpp"

namespace assay::dr_post_training {

/// What is known of the rows of a group of maps: inner products of gradients of the rows' mean
/// losses g_b and of the mean v of the target rows' mean losses, summed over the group's maps.
struct GroupStatistics {
    TargetDirection target;  ///< |v|² with the Gram matrix
    Matrix gram;             ///< [n][n] <g_b, g_c>; empty unless asked for
};

/// Decides for a group, named as SelectingOptions::group_of names it.
using Choose = std::function<Update(const std::string& group, const GroupStatistics&)>;

struct SelectingOptions {
    Scoring backend = Scoring::pip;
    std::int64_t compressed_outputs = 64, compressed_inputs = 64;  ///< of Scoring::compressed
    std::uint64_t compression_seed = 1;
    bool gram = false;  ///< whether Choose wants the Gram matrix
    /// Whether Choose may give the target rows a weight: then they are kept, too.
    bool target_weights = false;
    /// Whether the head chooses rows like any other map. Else, as norms and embeddings always, it
    /// learns from all general rows.
    bool head_chooses = false;
    /// Maps of one name decide together, when the last of them is reached.
    std::function<std::string(const nn::Place&)> group_of;
    /// false: scores only, weights of maps that choose get no gradient. First pass of two.
    bool assemble = true;
    Choose choose;
};

/// One step's rows: the first `shares.size()` sequences of a batch are general rows, the others
/// target rows. The loss that is sent backwards is Σ_b shares[b]·(mean loss of row b) + (mean over
/// the target rows of their mean losses).
struct StepRows {
    std::vector<double> shares;  ///< of general rows in their mean; they sum to 1
    std::int64_t targets = 0;
    bool cached = false;  ///< the target rows are those of the last begin_target(); none here

    std::int64_t general() const { return static_cast<std::int64_t>(shares.size()); }
};

class SelectingMaps : public nn::Maps {
  public:
    explicit SelectingMaps(SelectingOptions options);
    ~SelectingMaps() override;

    /// Before each forward pass. Forgets the decisions before.
    void begin(StepRows rows);
    /// Before a forward pass over target rows alone, whose loss is the mean of their mean losses:
    /// on the way back the maps that choose keep what they score general rows against, and nothing
    /// learns.
    void begin_target(std::int64_t rows);
    /// What each group saw and decided, once the backward pass is over. A group is there from the
    /// time of its decision.
    struct Decision {
        GroupStatistics statistics;
        std::vector<double>
            ranks_by;  ///< [n] n·w<g,v>, what selection goes by: scores with weights
        Update update;
    };
    const std::map<std::string, Decision>& decisions() const { return decisions_; }

    at::Tensor linear(const nn::Place&, const at::Tensor& x, const at::Tensor& weight,
                      const at::Tensor& bias) override;
    at::Tensor norm(const nn::Place&, const at::Tensor& x, const nn::NormWeights&) override;
    at::Tensor embed(const nn::Place&, const at::Tensor& table, const at::Tensor& ids,
                     at::ScalarType type) override;
    at::Tensor add_positions(const nn::Place&, const at::Tensor& x,
                             const at::Tensor& table) override;

    /// For the maps' backward passes: `place` is the number of the map in the forward pass, input
    /// [rows, I], output_grad [rows, O]. Adds to the gradients of the leaves.
    void reach(std::int64_t place, const at::Tensor& input, const at::Tensor& output_grad);

  private:
    struct Map;
    struct Group;
    void assemble(const Map&, const Update&) const;
    const Compression& compression(std::int64_t outputs, std::int64_t inputs,
                                   const at::TensorOptions&);

    SelectingOptions options_;
    StepRows rows_;
    std::vector<Traffic> cached_;  ///< by place, of the target rows that ran by themselves
    std::vector<Map> maps_;
    std::map<std::string, Group> groups_;
    std::map<std::string, Decision> decisions_;
    std::map<std::pair<std::int64_t, std::int64_t>, Compression> compressions_;
};

/// The second pass of two: linear maps learn from every row they see, norms, embeddings and (with
/// `head` false) the head from none.
class LinearMapsOnly : public nn::Maps {
  public:
    explicit LinearMapsOnly(bool head) : head_(head) {}
    at::Tensor linear(const nn::Place&, const at::Tensor& x, const at::Tensor& weight,
                      const at::Tensor& bias) override;
    at::Tensor norm(const nn::Place&, const at::Tensor& x, const nn::NormWeights&) override;
    at::Tensor embed(const nn::Place&, const at::Tensor& table, const at::Tensor& ids,
                     at::ScalarType type) override;
    at::Tensor add_positions(const nn::Place&, const at::Tensor& x,
                             const at::Tensor& table) override;

  private:
    bool head_;
};

}  // namespace assay::dr_post_training
