#include "impls/dr_post_training/method/meso.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "impls/nn/hashes.hpp"

namespace assay::dr_post_training {
namespace {

constexpr double least_second_moment = 1e-10;

std::string full_name(int layer, const std::string& name) {
    return "layer" + std::to_string(layer) + "/" + name;
}

at::Tensor rescaled(const at::Tensor& moved, const at::Tensor& like) {
    const double now = at::linalg_vector_norm(moved).item<double>();
    return now > 0 ? moved * (at::linalg_vector_norm(like).item<double>() / now) : moved;
}

}  // namespace

Moments moved(const Moments& old, const at::Tensor& outputs, const at::Tensor& inputs) {
    const auto first = at::mm(at::mm(outputs, old.first), inputs.t());
    const auto second = at::mm(at::mm(outputs.square(), old.second), inputs.square().t());
    return {rescaled(first, old.first),
            rescaled(second, old.second).clamp_min(least_second_moment)};
}

Meso::Meso(nn::Decoder& decoder, const MesoOptions& options)
    : decoder_(decoder), options_(options) {
    std::vector<nn::ParameterSpec> specs;
    std::int64_t offset = 0;
    for (const nn::NamedShape& parameter : layer_parameters(decoder.config())) {
        if (parameter.name.ends_with("bias")) continue;
        Part part{parameter.name, specs.size(), offset, parameter.shape};
        auto shape = parameter.shape;
        if (part.map())
            shape = {std::min(shape[0], options.outputs), std::min(shape[1], options.inputs)};
        specs.push_back({parameter.name, shape, 0, 0});
        offset += c10::multiply_integers(shape);
        parts_.push_back(std::move(part));
    }
    const auto device = decoder.blocks().front()->values().device();
    const at::NoGradGuard no_grad;
    for (int layer = 0; layer < decoder.config().layers; ++layer) {
        blocks_.push_back(std::make_unique<nn::ParameterBlock>(
            "meso" + std::to_string(layer), specs, at::kFloat, options.seed, device));
        auto& drawn_here = projections_.emplace_back();
        for (const Part& each : parts_) {
            drawn_here.push_back(each.map() ? drawn(layer, each) : Projections{});
            if (!each.map())
                (*blocks_.back())[each.place].detach().copy_(
                    decoder.parameter(full_name(layer, each.name)));
        }
    }
    for (std::size_t i = 1; i < decoder.blocks().size(); ++i) decoder.blocks()[i]->freeze();
}

Meso::Projections Meso::drawn(int layer, const Part& part) const {
    const auto draw = [&](std::int64_t from, std::int64_t to, const char* side) {
        auto generator = at::make_generator<at::CPUGeneratorImpl>(
            nn::hash_text(full_name(layer, part.name) + side,
                          nn::counter_hash(options_.seed) ^ static_cast<std::uint64_t>(epoch_)));
        return at::normal(0.0, 1 / std::sqrt(static_cast<double>(to)), {from, to}, generator,
                          at::TensorOptions().dtype(at::kFloat))
            .to(decoder_.blocks().front()->values().device());
    };
    const auto& block = *blocks_[static_cast<std::size_t>(layer)];
    const auto& sizes = block[part.place].sizes();
    return {draw(part.shape[0], sizes[0], "/outputs"), draw(part.shape[1], sizes[1], "/inputs")};
}

const Meso::Part& Meso::part(std::string_view name) const {
    for (const Part& each : parts_)
        if (each.name == name) return each;
    throw std::out_of_range("no parameter " + std::string(name));
}

const Meso::Projections& Meso::of(int layer, std::string_view map) const {
    const auto& found = projections_.at(static_cast<std::size_t>(layer)).at(part(map).place);
    if (!found.outputs.defined()) throw std::out_of_range("no linear map " + std::string(map));
    return found;
}

const at::Tensor& Meso::outputs_of(int layer, std::string_view map) const {
    return of(layer, map).outputs;
}

const at::Tensor& Meso::inputs_of(int layer, std::string_view map) const {
    return of(layer, map).inputs;
}

const at::Tensor& Meso::coordinates(int layer, std::string_view map) const {
    return (*blocks_.at(static_cast<std::size_t>(layer)))[part(map).place];
}

void Meso::begin(std::int64_t step) {
    if (step / options_.redraw_every == epoch_) return;
    epoch_ = step / options_.redraw_every;
    const at::NoGradGuard no_grad;
    for (int layer = 0; layer < decoder_.config().layers; ++layer) {
        const auto here = static_cast<std::size_t>(layer);
        for (const Part& each : parts_) {
            if (!each.map()) continue;
            Projections& old = projections_[here][each.place];
            const Projections fresh = drawn(layer, each);
            const auto& leaf = (*blocks_[here])[each.place];
            const auto of_block = [&](at::Tensor& numbers) {
                return numbers.narrow(0, each.offset, leaf.numel()).view(leaf.sizes());
            };
            auto first = of_block(blocks_[here]->first_moment());
            auto second = of_block(blocks_[here]->second_moment());
            const auto now = moved({first, second}, at::mm(fresh.outputs.t(), old.outputs),
                                   at::mm(fresh.inputs.t(), old.inputs));
            first.copy_(now.first);
            second.copy_(now.second);
            old = fresh;
        }
    }
}

void Meso::apply() {
    const at::NoGradGuard no_grad;
    for (int layer = 0; layer < decoder_.config().layers; ++layer) {
        const auto here = static_cast<std::size_t>(layer);
        for (const Part& each : parts_) {
            auto learnt = (*blocks_[here])[each.place].detach();
            auto weight = decoder_.parameter(full_name(layer, each.name)).detach();
            if (!each.map()) {
                weight.copy_(learnt);
                continue;
            }
            const Projections& by = projections_[here][each.place];
            weight.addmm_(at::mm(by.outputs, learnt), by.inputs.t());
            learnt.zero_();
        }
    }
}

class Meso::Through : public nn::Maps {
  public:
    Through(const Meso& meso, nn::Maps& inner) : meso_(meso), inner_(inner) {}

    at::Tensor linear(const nn::Place& place, const at::Tensor& x, const at::Tensor& weight,
                      const at::Tensor& bias) override {
        const auto y = inner_.linear(place, x, weight, bias);
        if (place.layer < 0) return y;
        const Projections& by = meso_.of(place.layer, place.name);
        const auto low = at::mm(x, by.inputs.to(x.scalar_type()));
        const auto moved =
            inner_.linear(place, low, meso_.coordinates(place.layer, place.name), at::Tensor());
        return y + at::mm(moved, by.outputs.t().to(x.scalar_type()));
    }
    at::Tensor norm(const nn::Place& place, const at::Tensor& x,
                    const nn::NormWeights& weights) override {
        if (place.layer < 0) return inner_.norm(place, x, weights);
        auto own = weights;
        own.gain = meso_.coordinates(place.layer, place.name);
        return inner_.norm(place, x, own);
    }
    at::Tensor embed(const nn::Place& place, const at::Tensor& table, const at::Tensor& ids,
                     at::ScalarType type) override {
        return inner_.embed(place, table, ids, type);
    }
    at::Tensor add_positions(const nn::Place& place, const at::Tensor& x,
                             const at::Tensor& table) override {
        return inner_.add_positions(place, x, table);
    }

  private:
    const Meso& meso_;
    nn::Maps& inner_;
};

std::unique_ptr<nn::Maps> Meso::over(nn::Maps& inner) const {
    return std::make_unique<Through>(*this, inner);
}

}  // namespace assay::dr_post_training
