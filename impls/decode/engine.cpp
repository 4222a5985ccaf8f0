#include "impls/decode/engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

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
    Impl(const nn::DecoderConfig& config, Weights weights, const EngineOptions& options)
        : pass(config, std::move(weights), positions_of(config, options), options.threads) {}

    /// Checks the ids and runs them; returns how many the last batch held.
    int feed(std::span<const int> ids, bool logits_of_each) {
        const nn::DecoderConfig& config = pass.config();
        if (ids.empty()) throw UserError("there are no ids to feed");
        for (const int id : ids)
            if (id < 0 || id >= config.vocabulary)
                throw UserError("token id " + std::to_string(id) +
                                " is outside the vocabulary of " +
                                std::to_string(config.vocabulary));
        if (ids.size() > static_cast<std::size_t>(pass.positions() - position))
            throw UserError("the context of " + std::to_string(pass.positions()) +
                            " positions is full: " + std::to_string(position) + " are taken, " +
                            std::to_string(ids.size()) + " more do not fit");
        int batch = 0;
        for (std::size_t at = 0; at < ids.size(); at += static_cast<std::size_t>(batch)) {
            batch = static_cast<int>(std::min<std::size_t>(ids.size() - at, largest_batch));
            const bool last = at + static_cast<std::size_t>(batch) == ids.size();
            pass.run(ids.subspan(at, static_cast<std::size_t>(batch)), position,
                     logits_of_each ? Logits::each
                     : last         ? Logits::last
                                    : Logits::none);
            position += batch;
        }
        return batch;
    }

    ForwardPass pass;
    int position = 0;
};

Engine::Engine(const nn::TensorFile& file, const EngineOptions& options) {
    const nn::DecoderConfig config = nn::read_decoder_config(file);
    positions_of(config, options);  // refused before gigabytes are read
    const auto sparsity = options.sparse ? nn::read_ffn_sparsity(file, config) : std::nullopt;
    impl_ = std::make_unique<Impl>(config, weights_of_file(file, config, options), options);
    if (sparsity)
        impl_->pass.replace_networks(networks_of_file(file, config, *sparsity, options.weights));
}

Engine::Engine(const nn::DecoderConfig& config, AssayType type, const EngineOptions& options,
               std::uint64_t seed)
    : impl_(std::make_unique<Impl>(config, random_weights(config, type, options, seed), options)) {}

Engine::~Engine() = default;

const nn::DecoderConfig& Engine::config() const { return impl_->pass.config(); }

void Engine::use_sparse(std::vector<SparseLayer> layers, std::optional<RandomExperts> random) {
    impl_->pass.replace_networks(
        std::make_unique<SparseNetworks>(config(), std::move(layers), random));
    reset();  // what is in the cache came from another network
}

std::span<const float> Engine::feed(std::span<const int> ids) {
    impl_->feed(ids, false);
    return impl_->pass.logits().first(static_cast<std::size_t>(config().vocabulary));
}

std::span<const float> Engine::feed_chunk(std::span<const int> ids) {
    if (ids.size() > static_cast<std::size_t>(largest_chunk))
        throw std::invalid_argument("more ids than feed_chunk() takes");
    impl_->feed(ids, true);
    return impl_->pass.logits().first(ids.size() * static_cast<std::size_t>(config().vocabulary));
}

void Engine::reset() { impl_->position = 0; }
void Engine::rewind(int position) {
    if (position < 0 || position > impl_->position)
        throw std::invalid_argument("the cache cannot be taken back to where it never was");
    impl_->position = position;
}
int Engine::position() const { return impl_->position; }
int Engine::context() const { return impl_->pass.positions(); }
std::uint64_t Engine::bytes_per_token() const {
    return impl_->pass.bytes_per_token(impl_->position);
}

}  // namespace assay::decode
