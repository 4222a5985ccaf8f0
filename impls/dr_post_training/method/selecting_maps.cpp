#include "impls/dr_post_training/method/selecting_maps.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace assay::dr_post_training {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::string_view head = "output";

/// Functions of autograd take what may be absent as an option, not as an undefined tensor.
std::optional<at::Tensor> option_of(const at::Tensor& tensor) {
    return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

/// y = x·Wᵀ + b. Backwards the inputs' gradient is as ever, for all rows; what the leaves learn is
/// left to SelectingMaps::reach().
struct ReachedMap : torch::autograd::Function<ReachedMap> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                              const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                              SelectingMaps* maps, std::int64_t place) {
        const auto matrix = weight.to(x.scalar_type());
        context->save_for_backward({x, matrix});
        context->saved_data["maps"] = reinterpret_cast<std::int64_t>(maps);
        context->saved_data["place"] = place;
        return at::linear(x, matrix, bias ? bias->to(x.scalar_type()) : at::Tensor());
    }
    static variable_list backward(AutogradContext* context, const variable_list& grads) {
        const auto saved = context->get_saved_variables();
        const auto& output_grad = grads[0];
        const at::NoGradGuard no_grad;
        reinterpret_cast<SelectingMaps*>(context->saved_data["maps"].toInt())
            ->reach(context->saved_data["place"].toInt(), saved[0], output_grad);
        at::Tensor input_grad;
        if (context->needs_input_grad(0)) input_grad = at::mm(output_grad, saved[1]);
        return {input_grad, {}, {}, {}, {}};
    }
};

/// x ∘ gain + shift, whose gain and shift learn from the first `rows` rows.
struct GeneralRowsScale : torch::autograd::Function<GeneralRowsScale> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& gain,
                              const std::optional<at::Tensor>& shift, std::int64_t rows) {
        context->save_for_backward({x, gain});
        context->saved_data["rows"] = rows;
        context->saved_data["shift"] = shift.has_value();
        return shift ? at::addcmul(*shift, x, gain) : x * gain;
    }
    static variable_list backward(AutogradContext* context, const variable_list& grads) {
        const auto saved = context->get_saved_variables();
        const auto rows = context->saved_data["rows"].toInt();
        const auto general = grads[0].narrow(0, 0, rows);
        at::Tensor shift_grad;
        if (context->saved_data["shift"].toBool()) shift_grad = general.sum(0);
        return {
            grads[0] * saved[1], (general * saved[0].narrow(0, 0, rows)).sum(0), shift_grad, {}};
    }
};

nn::NormWeights held(const nn::NormWeights& weights) {
    return {weights.gain.detach(), weights.shift.defined() ? weights.shift.detach() : weights.shift,
            weights.epsilon, weights.centred};
}

/// The rows with a weight, and by what their traffic, which carries shares already, is multiplied.
struct Kept {
    std::vector<std::int64_t> rows;
    std::vector<double> factors;
    bool equal() const {
        return std::all_of(factors.begin(), factors.end(),
                           [&](double one) { return one == factors.front(); });
    }
};

Kept kept_of(const std::vector<double>& weights, const std::vector<double>& shares) {
    Kept kept;
    bool equal = true;
    double sum_of_shares = 0, sum_of_weights = 0;
    for (std::size_t b = 0; b < weights.size(); ++b) {
        if (weights[b] == 0) continue;
        kept.rows.push_back(static_cast<std::int64_t>(b));
        kept.factors.push_back(weights[b] / shares[b]);
        equal = equal && std::abs(kept.factors.back() / kept.factors.front() - 1) < 1e-12;
        sum_of_shares += shares[b];
        sum_of_weights += weights[b];
    }
    // Of a subset all factors are 1/Σ shares, but for rounding.
    if (equal) std::fill(kept.factors.begin(), kept.factors.end(), sum_of_weights / sum_of_shares);
    return kept;
}

}  // namespace

/// A map of this step's forward pass.
struct SelectingMaps::Map {
    at::Tensor weight, bias;  ///< leaves
    std::string group;        ///< empty: learns from all general rows
    Traffic general, target;  ///< once reached, as far as they are needed later
    at::Tensor gradients;     ///< [n, O, I] of the general rows, where they were made
};

struct SelectingMaps::Group {
    std::vector<std::size_t> maps;
    std::size_t reached = 0;
    at::Tensor scores, gram, target_norm2;  ///< sums over maps reached; with the traffic's shares
};

SelectingMaps::SelectingMaps(SelectingOptions options) : options_(std::move(options)) {}
SelectingMaps::~SelectingMaps() = default;

void SelectingMaps::begin(StepRows rows) {
    if (rows.shares.empty()) throw std::invalid_argument("a step without general rows");
    rows_ = std::move(rows);
    if (!rows_.cached) cached_.clear();
    maps_.clear();
    groups_.clear();
    decisions_.clear();
}

void SelectingMaps::begin_target(std::int64_t rows) {
    rows_ = {.shares = {}, .targets = rows};
    cached_.clear();
    maps_.clear();
    groups_.clear();
    decisions_.clear();
}

at::Tensor SelectingMaps::linear(const nn::Place& place, const at::Tensor& x,
                                 const at::Tensor& weight, const at::Tensor& bias) {
    if (!weight.requires_grad() || !at::GradMode::is_enabled())
        return Maps::linear(place, x, weight, bias);
    const bool chooses = place.name != head || options_.head_chooses;
    maps_.push_back({weight, bias, chooses ? options_.group_of(place) : std::string(), {}, {}, {}});
    if (chooses) groups_[maps_.back().group].maps.push_back(maps_.size() - 1);
    return ReachedMap::apply(x, weight, option_of(bias), this,
                             static_cast<std::int64_t>(maps_.size() - 1));
}

at::Tensor SelectingMaps::norm(const nn::Place& place, const at::Tensor& x,
                               const nn::NormWeights& weights) {
    if (!weights.gain.requires_grad() || rows_.targets == 0) return Maps::norm(place, x, weights);
    const auto width = x.size(-1);
    const auto normed = weights.centred ? at::layer_norm(x, {width}, {}, {}, weights.epsilon)
                                        : at::rms_norm(x, {width}, {}, weights.epsilon);
    const auto in_type = [&](const at::Tensor& leaf) {
        return leaf.defined() ? leaf.to(x.scalar_type()) : leaf;
    };
    const auto rows = x.size(0) / (rows_.general() + rows_.targets) * rows_.general();
    return GeneralRowsScale::apply(normed, in_type(weights.gain), option_of(in_type(weights.shift)),
                                   rows);
}

at::Tensor SelectingMaps::embed(const nn::Place& place, const at::Tensor& table,
                                const at::Tensor& ids, at::ScalarType type) {
    if (!table.requires_grad() || rows_.targets == 0) return Maps::embed(place, table, ids, type);
    const auto rows = ids.size(0) / (rows_.general() + rows_.targets) * rows_.general();
    return at::cat(
        {Maps::embed(place, table, ids.narrow(0, 0, rows), type),
         Maps::embed(place, table.detach(), ids.narrow(0, rows, ids.size(0) - rows), type)});
}

at::Tensor SelectingMaps::add_positions(const nn::Place& place, const at::Tensor& x,
                                        const at::Tensor& table) {
    if (!table.requires_grad() || rows_.targets == 0) return Maps::add_positions(place, x, table);
    const auto parts = x.split_with_sizes({rows_.general(), rows_.targets});
    return at::cat({Maps::add_positions(place, parts[0], table),
                    Maps::add_positions(place, parts[1], table.detach())});
}

const Compression& SelectingMaps::compression(std::int64_t outputs, std::int64_t inputs,
                                              const at::TensorOptions& options) {
    const std::pair key(outputs, inputs);
    auto found = compressions_.find(key);
    if (found == compressions_.end())
        found = compressions_
                    .emplace(key, Compression(outputs, inputs, options_.compressed_outputs,
                                              options_.compressed_inputs, options_.compression_seed,
                                              options))
                    .first;
    return found->second;
}

void SelectingMaps::reach(std::int64_t place, const at::Tensor& input,
                          const at::Tensor& output_grad) {
    const auto general = rows_.general(), all = general + rows_.targets;
    Map& map = maps_[static_cast<std::size_t>(place)];
    const Traffic traffic{input.view({all, -1, input.size(-1)}),
                          output_grad.reshape({all, -1, output_grad.size(-1)})};
    if (general == 0) {
        if (map.group.empty()) return;
        if (cached_.size() < maps_.size()) cached_.resize(maps_.size());
        cached_[static_cast<std::size_t>(place)] = traffic;
        return;
    }
    map.general = traffic.part(0, general);
    if (map.group.empty()) {
        assemble(map, {.selected = {}, .weights = rows_.shares, .target_weight = 0});
        map.general = Traffic{};
        return;
    }
    const bool steered = rows_.cached || rows_.targets > 0;
    map.target = rows_.cached ? cached_.at(static_cast<std::size_t>(place))
                              : traffic.part(general, rows_.targets);
    const bool bias = map.bias.defined();
    Group& group = groups_.at(map.group);
    const auto add = [](at::Tensor& sum, const at::Tensor& more) {
        sum = sum.defined() ? sum + more : more;
    };
    if (steered) {
        if (options_.backend == Scoring::compressed) {
            const auto& by = compression(output_grad.size(-1), input.size(-1), input.options());
            add(group.scores, rows_.cached ? by.scores(map.general, map.target, bias)
                                           : by.scores(traffic, general, bias));
        } else if (options_.backend == Scoring::direct && options_.assemble && !bias) {
            map.gradients = row_gradients(map.general);
            add(group.scores,
                at::mv(map.gradients.view({general, -1}), summed_gradient(map.target).view(-1))
                    .to(at::kDouble));
        } else {
            add(group.scores, scores(options_.backend, map.general, map.target, bias));
        }
    }
    if (options_.gram) {
        add(group.gram, gram(map.general, bias));
        if (steered) {
            auto norm2 = summed_gradient(map.target).square().sum();
            if (bias)
                norm2 = norm2 + map.target.output_grad.sum(at::IntArrayRef{0, 1}).square().sum();
            add(group.target_norm2, norm2.to(at::kDouble));
        }
    }
    if (!options_.target_weights) map.target = Traffic{};
    if (!options_.assemble) map.general = Traffic{};
    if (++group.reached < group.maps.size()) return;

    // Shares are part of what came back: statistics are of the rows' own mean losses.
    Decision decision;
    auto& [direction, products] = decision.statistics;
    const auto n = static_cast<std::size_t>(general);
    const auto& shares = rows_.shares;
    direction.scores.assign(n, 0);
    decision.ranks_by.assign(n, 0);
    if (group.scores.defined()) {
        const auto here = group.scores.cpu().contiguous();
        for (std::size_t b = 0; b < n; ++b) {
            const double with_share = here.const_data_ptr<double>()[b];
            direction.scores[b] = with_share / shares[b];
            decision.ranks_by[b] = static_cast<double>(n) * with_share;
        }
    }
    if (group.gram.defined()) {
        const auto here = group.gram.cpu().contiguous();
        products = Matrix(n, n);
        for (std::size_t b = 0; b < n; ++b)
            for (std::size_t c = 0; c < n; ++c)
                products(b, c) = here.const_data_ptr<double>()[b * n + c] / (shares[b] * shares[c]);
    }
    if (group.target_norm2.defined()) direction.norm2 = group.target_norm2.item<double>();
    decision.update = options_.choose(map.group, decision.statistics);
    for (const std::size_t member : group.maps) {
        if (options_.assemble) assemble(maps_[member], decision.update);
        maps_[member].general = maps_[member].target = Traffic{};
        maps_[member].gradients.reset();
    }
    decisions_[map.group] = std::move(decision);
}

void SelectingMaps::assemble(const Map& map, const Update& update) const {
    const auto add = [&](at::Tensor output_grad, at::Tensor input, double factor) {
        if (map.bias.defined())
            map.bias.grad().add_(output_grad.sum(at::IntArrayRef{0, 1}).to(map.bias.scalar_type()),
                                 factor);
        const auto outputs = output_grad.reshape({-1, output_grad.size(-1)}).t();
        const auto inputs = input.reshape({-1, input.size(-1)});
        auto grad = map.weight.grad();
        if (inputs.scalar_type() == grad.scalar_type())
            grad.addmm_(outputs, inputs, 1, factor);
        else
            grad.add_(at::mm(outputs, inputs).to(grad.scalar_type()), factor);
    };
    const Kept kept = kept_of(update.weights, rows_.shares);
    if (!kept.rows.empty()) {
        const bool all = kept.rows.size() == rows_.shares.size();
        const auto options = at::TensorOptions().device(map.weight.device());
        if (map.gradients.defined()) {
            std::vector<double> factors(rows_.shares.size());
            for (std::size_t i = 0; i < kept.rows.size(); ++i)
                factors[static_cast<std::size_t>(kept.rows[i])] = kept.factors[i];
            const auto by_row = at::tensor(factors, options.dtype(at::kDouble))
                                    .to(map.gradients.scalar_type());  // bf16 takes no list
            map.weight.grad().add_(
                at::mv(map.gradients.view({map.gradients.size(0), -1}).t(), by_row)
                    .view(map.weight.sizes())
                    .to(map.weight.scalar_type()));
        } else {
            auto output_grad = map.general.output_grad, input = map.general.input;
            if (!all) {
                const auto rows = at::tensor(kept.rows, options.dtype(at::kLong));
                output_grad = output_grad.index_select(0, rows);
                input = input.index_select(0, rows);
            }
            double factor = kept.factors.front();
            if (!kept.equal()) {
                output_grad = output_grad * at::tensor(kept.factors, options.dtype(at::kDouble))
                                                .to(output_grad.scalar_type())
                                                .view({-1, 1, 1});
                factor = 1;
            }
            add(output_grad, input, factor);
        }
    }
    if (update.target_weight != 0)
        add(map.target.output_grad, map.target.input, update.target_weight);
}

at::Tensor LinearMapsOnly::linear(const nn::Place& place, const at::Tensor& x,
                                  const at::Tensor& weight, const at::Tensor& bias) {
    if (place.name == head && !head_)
        return Maps::linear(place, x, weight.detach(), bias.defined() ? bias.detach() : bias);
    return Maps::linear(place, x, weight, bias);
}

at::Tensor LinearMapsOnly::norm(const nn::Place& place, const at::Tensor& x,
                                const nn::NormWeights& weights) {
    return Maps::norm(place, x, held(weights));
}

at::Tensor LinearMapsOnly::embed(const nn::Place& place, const at::Tensor& table,
                                 const at::Tensor& ids, at::ScalarType type) {
    return Maps::embed(place, table.detach(), ids, type);
}

at::Tensor LinearMapsOnly::add_positions(const nn::Place& place, const at::Tensor& x,
                                         const at::Tensor& table) {
    return Maps::add_positions(place, x, table.detach());
}

}  // namespace assay::dr_post_training
