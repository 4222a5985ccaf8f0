#include "impls/decode/engine.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "impls/decode/back_end.hpp"
#include "impls/decode/forward_pass.hpp"
#include "impls/decode/sparse_networks.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

constexpr int default_context = 4096;

int positions_of(const nn::DecoderConfig& config, const EngineOptions& options) {
    if (options.context < 0)
        throw UserError("a context of " + std::to_string(options.context) +
                        " positions; give a positive number");
    if (options.context > config.context)
        throw UserError("a context of " + std::to_string(options.context) +
                        " positions is more than the model's " + std::to_string(config.context));
    return options.context > 0 ? options.context : std::min(config.context, default_context);
}

}  // namespace

std::optional<WeightType> parse_weight_type(std::string_view name) {
    if (name == "stored") return WeightType::stored;
    if (name == "f32") return WeightType::f32;
    if (name == "bf16") return WeightType::bf16;
    return std::nullopt;
}

struct Engine::Impl {
    Impl(std::shared_ptr<CpuModel> model, const EngineOptions& options)
        : context(positions_of(model->config, options)),
          pass(std::move(model), {.blocks = (context + block_positions - 1) / block_positions,
                                  .threads = options.threads}),
          blocks(static_cast<std::size_t>(pass.cache().blocks())) {
        std::iota(blocks.begin(), blocks.end(), 0);
    }

    /// Checks the ids and runs them.
    void feed(std::span<const int> ids, bool logits_of_each) {
        const nn::DecoderConfig& config = pass.model().config;
        if (ids.empty()) throw UserError("there are no ids to feed");
        for (const int id : ids)
            if (id < 0 || id >= config.vocabulary)
                throw UserError("token id " + std::to_string(id) +
                                " is outside the vocabulary of " +
                                std::to_string(config.vocabulary));
        if (ids.size() > static_cast<std::size_t>(context - position))
            throw UserError("the context of " + std::to_string(context) +
                            " positions is full: " + std::to_string(position) + " are taken, " +
                            std::to_string(ids.size()) + " more do not fit");
        FedToken tokens[largest_pass];
        int all[largest_pass];
        std::iota(all, all + largest_pass, 0);
        for (std::size_t at = 0; at < ids.size();) {
            const auto most = static_cast<std::size_t>(pass.most_tokens());
            const std::size_t batch = std::min(ids.size() - at, most);
            for (std::size_t t = 0; t < batch; ++t)
                tokens[t] = {ids[at + t], position++, blocks.data()};
            at += batch;
            const std::span<const int> each(all, batch);
            pass.run({tokens, batch}, logits_of_each     ? each
                                      : at == ids.size() ? each.last(1)
                                                         : each.first(0));
        }
    }

    int context;
    ForwardPass pass;
    std::vector<int> blocks;
    int position = 0;
};

Engine::Engine(const nn::TensorFile& file, const EngineOptions& options) {
    positions_of(nn::read_decoder_config(file), options);  // refused before gigabytes are read
    impl_ = std::make_unique<Impl>(load_model(file, options), options);
}

Engine::Engine(const nn::DecoderConfig& config, AssayType type, const EngineOptions& options,
               std::uint64_t seed)
    : impl_(
          std::make_unique<Impl>(std::make_shared<CpuModel>(CpuModel{
                                     config, random_weights(config, type, options, seed), nullptr}),
                                 options)) {}

Engine::~Engine() = default;

const nn::DecoderConfig& Engine::config() const { return impl_->pass.model().config; }

void Engine::use_sparse(std::vector<SparseLayer> layers, std::optional<RandomExperts> random) {
    impl_->pass.model().replace_networks(
        std::make_unique<SparseNetworks>(config(), std::move(layers), random));
    reset();  // what is in the cache came from another network
}

std::span<const float> Engine::feed(std::span<const int> ids) {
    impl_->feed(ids, false);
    return impl_->pass.logits(0);
}

std::span<const float> Engine::feed_chunk(std::span<const int> ids) {
    if (ids.size() > static_cast<std::size_t>(largest_chunk))
        throw std::invalid_argument("more ids than feed_chunk() takes");
    impl_->feed(ids, true);
    return {impl_->pass.logits(0).data(),
            ids.size() * static_cast<std::size_t>(config().vocabulary)};
}

void Engine::reset() { impl_->position = 0; }
void Engine::rewind(int position) {
    if (position < 0 || position > impl_->position)
        throw std::invalid_argument("the cache cannot be taken back to where it never was");
    impl_->position = position;
}
int Engine::position() const { return impl_->position; }
int Engine::context() const { return impl_->context; }
std::uint64_t Engine::bytes_per_token() const {
    return impl_->pass.model().weight_bytes_per_token() +
           static_cast<std::uint64_t>(impl_->position) * impl_->pass.cache().bytes_per_position();
}

}  // namespace assay::decode
