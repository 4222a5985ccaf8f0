#include "impls/nn/lora.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "impls/nn/hashes.hpp"

namespace assay::nn {

Lora::Lora(Decoder& decoder, const LoraOptions& options) : decoder_(decoder), options_(options) {
    std::vector<ParameterSpec> specs;
    for (const NamedShape& parameter : layer_parameters(decoder.config())) {
        if (parameter.shape.size() != 2) continue;
        adapters_.push_back({parameter.name, parameter.name + ".a", parameter.name + ".b"});
        const auto inputs = parameter.shape[1];
        specs.push_back({adapters_.back().name_a,
                         {options.rank, inputs},
                         1 / std::sqrt(static_cast<double>(inputs)),
                         0});
        specs.push_back({adapters_.back().name_b, {parameter.shape[0], options.rank}, 0, 0});
    }
    const auto device = decoder.blocks().front()->values().device();
    for (int layer = 0; layer < decoder.config().layers; ++layer)
        blocks_.push_back(std::make_unique<ParameterBlock>("lora" + std::to_string(layer), specs,
                                                           at::kFloat, options.seed, device));
    for (auto& block : decoder.blocks()) block->freeze();
}

const at::Tensor& Lora::adapter(int layer, std::string_view map, char which) const {
    for (std::size_t i = 0; i < adapters_.size(); ++i)
        if (adapters_[i].map == map)
            return (*blocks_.at(static_cast<std::size_t>(layer)))[2 * i + (which == 'b' ? 1 : 0)];
    throw std::out_of_range("no adapter for " + std::string(map));
}

class Lora::Through : public Maps {
  public:
    Through(const Lora& lora, Maps& inner, std::int64_t step)
        : lora_(lora), inner_(inner), step_(step) {}

    at::Tensor linear(const Place& place, const at::Tensor& x, const at::Tensor& weight,
                      const at::Tensor& bias) override {
        const auto y = inner_.linear(place, x, weight, bias);
        if (place.layer < 0) return y;
        const auto found =
            std::find_if(lora_.adapters_.begin(), lora_.adapters_.end(),
                         [&](const Adapter& adapter) { return adapter.map == place.name; });
        if (found == lora_.adapters_.end()) return y;
        const auto& a = lora_.adapter(place.layer, place.name, 'a');
        const auto& b = lora_.adapter(place.layer, place.name, 'b');
        const auto low =
            inner_.linear({place.layer, found->name_a}, dropped(place, x), a, at::Tensor());
        return y +
               inner_.linear({place.layer, found->name_b}, low, b, at::Tensor()) * lora_.scale();
    }
    at::Tensor norm(const Place& place, const at::Tensor& x, const NormWeights& weights) override {
        return inner_.norm(place, x, weights);
    }
    at::Tensor embed(const Place& place, const at::Tensor& table, const at::Tensor& ids,
                     at::ScalarType type) override {
        return inner_.embed(place, table, ids, type);
    }
    at::Tensor add_positions(const Place& place, const at::Tensor& x,
                             const at::Tensor& table) override {
        return inner_.add_positions(place, x, table);
    }

  private:
    /// Draws are a function of (seed, step, place): a step done again is the same step.
    at::Tensor dropped(const Place& place, const at::Tensor& x) const {
        const double rate = lora_.options_.dropout;
        if (step_ < 0 || rate <= 0) return x;
        const auto key = counter_hash(lora_.options_.seed) ^
                         counter_hash(static_cast<std::uint64_t>(step_) * 4096 +
                                      static_cast<std::uint64_t>(place.layer));
        auto generator = at::make_generator<at::CPUGeneratorImpl>(hash_text(place.name, key));
        const auto kept = at::rand(x.sizes(), generator, at::TensorOptions().dtype(at::kFloat))
                              .ge(rate)
                              .to(x.options().requires_grad(false));
        return x * kept / (1 - rate);
    }

    const Lora& lora_;
    Maps& inner_;
    std::int64_t step_;
};

std::unique_ptr<Maps> Lora::over(Maps& inner, std::int64_t step) const {
    return std::make_unique<Through>(*this, inner, step);
}

void Lora::merge() {
    at::NoGradGuard no_grad;
    for (int layer = 0; layer < decoder_.config().layers; ++layer)
        for (const Adapter& each : adapters_) {
            const auto& b = adapter(layer, each.map, 'b');
            decoder_.parameter("layer" + std::to_string(layer) + "/" + each.map)
                .detach()
                .addmm_(b, adapter(layer, each.map, 'a'), 1, scale());
            b.detach().zero_();
        }
}

}  // namespace assay::nn
