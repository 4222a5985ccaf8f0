#include "impls/decode/tensors/tensor_decoder.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/roll.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <cmath>

#include "impls/decode/networks/sparse_networks.hpp"
#include "impls/nn/decoder_layers.hpp"
#include "kernels/sparse_ffn/experts.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

AssayFfn network(const TensorWeights& weights, const TensorLayer& layer, AssayType type) {
    AssayFfn ffn{};
    ffn.width = weights.config.width;
    ffn.experts = weights.experts();
    ffn.expert_size = kernels::neurons_per_expert;
    ffn.type = type;
    ffn.activation = ASSAY_SWIGLU;
    ffn.gate = layer.gate.const_data_ptr();
    ffn.up = layer.up.const_data_ptr();
    ffn.down = layer.down.const_data_ptr();
    return ffn;
}

std::uint64_t bytes_of(const at::Tensor& tensor) { return tensor.nbytes(); }

}  // namespace

TensorDecoder::TensorDecoder(std::shared_ptr<const TensorWeights> weights,
                             const AssayKernels& kernels, AssayContext* context, int positions,
                             const ExpertSelection& selection, at::ScalarType cache_type)
    : weights_(std::move(weights)),
      kernels_(kernels),
      context_(context),
      selection_(selection),
      positions_(positions),
      type_(kernel_type(weights_->type)) {
    const at::NoGradGuard no_grad;
    const nn::DecoderConfig& config = weights_->config;
    if (positions < 1 || positions > config.context)
        throw UserError(fmt::format("a context of {} positions; the model has 1 to {}", positions,
                                    config.context));
    if (selection.by != ExpertSelection::By::all && !weights_->layers.at(0).router.defined())
        throw UserError("these weights have no routers; decode them dense");
    const auto floats = at::TensorOptions().dtype(at::kFloat).device(weights_->device());
    const int head = config.head_width;
    const auto table = nn::rotary_table(positions, head, config.rope_base, floats);
    cosine_ = at::cat({table.cosine, table.cosine}, 1);
    sine_ = at::cat({-table.sine, table.sine}, 1);
    for (int layer = 0; layer < config.layers; ++layer)
        for (auto* const cache : {&keys_, &values_})
            cache->push_back(
                at::zeros({config.kv_heads, positions, head}, floats.dtype(cache_type)));
    stream_ = at::empty({config.width}, floats);
    normalised_ = at::empty_like(stream_);
    change_ = at::empty_like(stream_);
    mixed_ = at::empty({config.heads * head}, floats);
    query_key_value_ = at::empty({(config.heads + 2 * config.kv_heads) * head}, floats);
    logits_ = at::empty({config.vocabulary}, floats);

    const AssayFfn ffn = network(*weights_, weights_->layers[0], type_);
    workspace_ = at::empty({static_cast<std::int64_t>(kernels.sparse_ffn_workspace(&ffn, 1)) + 64},
                           floats.dtype(at::kByte));
    const int experts = weights_->experts();
    const auto integers = floats.dtype(at::kInt);
    routed_mask_ = at::zeros({config.layers, experts}, floats.dtype(at::kByte));
    routed_active_ = at::zeros({config.layers, experts}, integers);
    routed_count_ = at::zeros({config.layers}, integers);
    active_ = at::arange(experts, integers);
    count_ = at::full({1}, experts, integers);
    if (selection.by == ExpertSelection::By::random) choose_at_random(positions);
}

/// The experts of every position, before anything is timed.
void TensorDecoder::choose_at_random(int positions) {
    const int layers = weights_->config.layers, experts = weights_->experts();
    if (selection_.random.count < 0 || selection_.random.count > experts)
        throw UserError(fmt::format("{} active experts of {}", selection_.random.count, experts));
    const auto lists = at::zeros({positions, layers, experts}, at::TensorOptions().dtype(at::kInt));
    auto* row = lists.mutable_data_ptr<std::int32_t>();
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(experts));
    for (int position = 0; position < positions; ++position)
        for (int layer = 0; layer < layers; ++layer, row += experts) {
            choose_random_experts(selection_.random, layer, position, mask);
            std::int32_t* next = row;
            for (std::int32_t e = 0; e < experts; ++e)
                if (mask[static_cast<std::size_t>(e)]) *next++ = e;
        }
    active_ = lists.to(weights_->device());
    count_.fill_(selection_.random.count);
}

const at::Tensor& TensorDecoder::feed(int id) {
    const at::NoGradGuard no_grad;
    if (position_ >= positions_)
        throw UserError(fmt::format("the context of {} positions is full", positions_));
    if (id < 0 || id >= weights_->config.vocabulary)
        throw UserError(fmt::format("token id {} is outside the vocabulary of {}", id,
                                    weights_->config.vocabulary));
    stream_.copy_(weights_->embedding.select(0, id));
    for (std::size_t layer = 0; layer < weights_->layers.size(); ++layer) {
        attend(layer);
        feed_forward(layer);
    }
    normalise(weights_->final_norm);
    multiply(weights_->output, normalised_, logits_);
    ++position_;
    return logits_;
}

void TensorDecoder::rewind(int position) {
    if (position < 0 || position > position_)
        throw std::invalid_argument("the cache cannot be taken back to where it never was");
    position_ = position;
}

void TensorDecoder::must(AssayStatus status) const {
    if (status != ASSAY_OK)
        throw NotSupportedHere(fmt::format("{}: {}", kernels_.name, kernels_.last_error(context_)));
}

void TensorDecoder::normalise(const at::Tensor& weight) {
    normalised_.copy_(
        at::rms_norm(stream_, {stream_.size(0)}, weight, weights_->config.norm_epsilon));
}

void TensorDecoder::multiply(const at::Tensor& weights, const at::Tensor& x,
                             const at::Tensor& y) const {
    AssayGemv call{};
    call.rows = static_cast<std::int32_t>(weights.size(0));
    call.columns = static_cast<std::int32_t>(weights.size(1));
    call.type = type_;
    call.weights = weights.const_data_ptr();
    call.batch = 1;
    call.x = x.const_data_ptr<float>();
    call.y = y.mutable_data_ptr<float>();
    must(kernels_.gemv(context_, &call));
}

void TensorDecoder::attend(std::size_t index) {
    const nn::DecoderConfig& config = weights_->config;
    const TensorLayer& layer = weights_->layers[index];
    const int heads = config.heads, kv_heads = config.kv_heads, head = config.head_width;
    normalise(layer.attention_norm);
    multiply(layer.query_key_value, normalised_, query_key_value_);

    // Halves (a, b) → (a·cos − b·sin, b·cos + a·sin), queries and keys alike.
    const auto rows = query_key_value_.view({heads + 2 * kv_heads, head});
    const auto turned = rows.narrow(0, 0, heads + kv_heads);
    const auto rotated = at::addcmul(turned * cosine_.select(0, position_),
                                     at::roll(turned, head / 2, 1), sine_.select(0, position_));
    keys_[index].select(1, position_).copy_(rotated.narrow(0, heads, kv_heads));
    values_[index].select(1, position_).copy_(rows.narrow(0, heads + kv_heads, kv_heads));

    const auto key = keys_[index].narrow(1, 0, position_ + 1);
    const auto value = values_[index].narrow(1, 0, position_ + 1);
    // Neighbouring query heads share a key head: [kv_heads, heads / kv_heads, hw].
    const auto query = (rotated.narrow(0, 0, heads) * (1 / std::sqrt(head)))
                           .to(key.scalar_type())
                           .view({kv_heads, heads / kv_heads, head});
    const auto shares = at::softmax(at::bmm(query, key.transpose(1, 2)), 2, at::kFloat);
    mixed_.copy_(at::bmm(shares.to(value.scalar_type()), value).view({-1}));
    multiply(layer.attention_out, mixed_, change_);
    stream_.add_(change_);
}

void TensorDecoder::feed_forward(std::size_t index) {
    const TensorLayer& layer = weights_->layers[index];
    const auto at_layer = static_cast<std::int64_t>(index);
    normalise(layer.ffn_norm);
    const auto* active = active_.const_data_ptr<std::int32_t>();
    const auto* count = count_.const_data_ptr<std::int32_t>();
    if (selection_.by != ExpertSelection::By::all) {
        AssayRouter call{};
        call.width = weights_->config.width;
        call.experts = weights_->experts();
        call.type = type_;
        call.weights = layer.router.const_data_ptr();
        call.logit_threshold = selection_.logit_threshold;
        call.batch = 1;
        call.x = normalised_.const_data_ptr<float>();
        call.mask = routed_mask_.select(0, at_layer).mutable_data_ptr<std::uint8_t>();
        call.active = routed_active_.select(0, at_layer).mutable_data_ptr<std::int32_t>();
        call.active_count = routed_count_.mutable_data_ptr<std::int32_t>() + at_layer;
        must(kernels_.router(context_, &call));
        if (selection_.by == ExpertSelection::By::router) {
            active = call.active;
            count = call.active_count;
        } else {
            active =
                active_.select(0, position_).select(0, at_layer).const_data_ptr<std::int32_t>();
        }
    }
    AssaySparseFfn call{};
    call.ffn = network(*weights_, layer, type_);
    call.batch = 1;
    call.x = normalised_.const_data_ptr<float>();
    call.active = active;
    call.active_count = count;
    call.y = change_.mutable_data_ptr<float>();
    // libtorch aligns to 64 bytes or more, on every device.
    call.workspace = workspace_.mutable_data_ptr();
    call.workspace_bytes = workspace_.nbytes();
    must(kernels_.sparse_ffn(context_, &call));
    stream_.add_(change_);
}

std::uint64_t TensorDecoder::bytes_per_token() const {
    const nn::DecoderConfig& config = weights_->config;
    const std::uint64_t row = bytes_of(weights_->embedding.select(0, 0));
    std::uint64_t bytes = row + bytes_of(weights_->output) + bytes_of(weights_->final_norm);
    if (selection_.by == ExpertSelection::By::router) must(kernels_.synchronise(context_));
    const auto routed = routed_count_.cpu();
    for (int i = 0; i < config.layers; ++i) {
        const TensorLayer& layer = weights_->layers[static_cast<std::size_t>(i)];
        for (const auto* const tensor :
             {&layer.attention_norm, &layer.ffn_norm, &layer.query_key_value, &layer.attention_out})
            bytes += bytes_of(*tensor);
        std::int64_t active = weights_->experts();
        if (selection_.by == ExpertSelection::By::random) active = selection_.random.count;
        if (selection_.by == ExpertSelection::By::router)
            active = routed.const_data_ptr<std::int32_t>()[i];
        bytes += static_cast<std::uint64_t>(active) *
                 kernels::expert_bytes(network(*weights_, layer, type_));
        if (selection_.by != ExpertSelection::By::all) bytes += bytes_of(layer.router);
    }
    const auto of_position =
        static_cast<std::uint64_t>(2 * config.layers * config.kv_heads * config.head_width) *
        keys_[0].element_size();
    return bytes + static_cast<std::uint64_t>(position_) * of_position;
}

}  // namespace assay::decode
