// Feed-forward networks that leave out neurons against the bytes that they must read: LTE's
// experts, CATS and TEAL, each at the same shares left out of what it can leave out. A pass through
// all layers and a plain read of as many bytes take turns. Weights are random; thresholds are put
// where the share of one token's values lies.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "impls/decode/networks/sparse_networks.hpp"
#include "impls/decode/networks/threshold_networks.hpp"
#include "kernels/reference/against_reading.hpp"
#include "kernels/reference/random_problem.hpp"
#include "kernels/sparse_ffn/activation.hpp"

namespace assay::decode {
namespace {

using benchmark::State;
using kernels::reference::Context;

nn::DecoderConfig shape(int width, int hidden, int layers) {
    nn::DecoderConfig config;
    config.family = nn::Family::llama;
    config.activation = nn::Activation::swiglu;
    config.width = width;
    config.hidden = hidden;
    config.layers = layers;
    return config;
}

/// Below which `share` of the magnitudes lie.
float threshold_at(std::vector<float> values, double share) {
    for (float& value : values) value = std::abs(value);
    const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
    if (rank == 0) return -1;
    std::nth_element(values.begin(), values.begin() + rank - 1, values.end());
    return values[static_cast<std::size_t>(rank - 1)];
}

class OneToken {
  public:
    OneToken(const nn::DecoderConfig& config, AssayContext& context)
        : config_(config), context_(context), x_(config.width) {
        std::mt19937_64 random(3);
        const auto values =
            kernels::reference::random_floats(static_cast<std::size_t>(config.width), random);
        std::copy(values.begin(), values.end(), x_.row(0));
        x_.begin(1);
        x_.ready(0);
    }
    const Activations& x() const { return x_; }

    nn::GateThresholds gates(const WeightSource& source, double share) const {
        auto gate = product(source, "layer0/gate", input());
        for (float& each : gate) each = kernels::activate(ASSAY_SWIGLU, each, 1.0f);
        return {std::vector<float>(static_cast<std::size_t>(config_.layers),
                                   threshold_at(std::move(gate), share))};
    }
    nn::InputThresholds inputs(const WeightSource& source, double share) const {
        auto thinned = input();
        const float least = threshold_at(thinned, share);
        for (float& each : thinned) each = std::abs(each) <= least ? 0 : each;
        const auto gate = product(source, "layer0/gate", thinned);
        auto hidden = product(source, "layer0/up", thinned);
        for (std::size_t n = 0; n < hidden.size(); ++n)
            hidden[n] = kernels::activate(ASSAY_SWIGLU, gate[n], hidden[n]);
        const auto layers = static_cast<std::size_t>(config_.layers);
        return {std::vector<float>(layers, least),
                std::vector<float>(layers, threshold_at(std::move(hidden), share))};
    }

  private:
    std::vector<float> input() const { return {x_.data(), x_.data() + config_.width}; }
    std::vector<float> product(const WeightSource& source, const char* name,
                               const std::vector<float>& x) const {
        const PlainRows rows = plain_rows(source, name, config_.hidden, config_.width);
        std::vector<float> y(static_cast<std::size_t>(config_.hidden));
        const AssayGemv gemv{config_.hidden,    config_.width, rows.type,
                             rows.bytes.data(), nullptr,       1,
                             x.data(),          y.data()};
        assay_cpu_kernels(nullptr)->gemv(&context_, &gemv);
        return y;
    }

    nn::DecoderConfig config_;
    AssayContext& context_;
    Activations x_;
};

std::unique_ptr<FeedForwardNetworks> routed(const nn::DecoderConfig& config,
                                            const WeightSource& source, double share) {
    std::vector<SparseLayer> layers(static_cast<std::size_t>(config.layers));
    for (SparseLayer& layer : layers) {
        const auto rows = [&](int count) {
            return plain_rows(source, "weights", count, config.width).bytes;
        };
        layer.experts = config.hidden / layer.expert_size;
        layer.router = rows(layer.experts);
        layer.gate = rows(config.hidden);
        layer.up = rows(config.hidden);
        layer.down = rows(config.hidden);
    }
    const int kept = static_cast<int>(std::lround((1 - share) * layers[0].experts));
    return std::make_unique<SparseNetworks>(config, std::move(layers), RandomExperts{kept, 1});
}

enum class Method { lte, cats, teal };

std::unique_ptr<FeedForwardNetworks> networks(Method method, const nn::DecoderConfig& config,
                                              const OneToken& token, double share) {
    const auto source = random_source(ASSAY_BF16, 1);
    if (method == Method::lte) return routed(config, *source, share);
    if (method == Method::cats)
        return std::make_unique<GatedNetworks>(config, *source, token.gates(*source, share));
    return std::make_unique<ThinnedNetworks>(config, *source, token.inputs(*source, share));
}

void run(State& state, Method method, const nn::DecoderConfig& config) {
    const Context context = kernels::reference::make_context(assay_cpu_kernels(nullptr),
                                                             static_cast<int>(state.range(0)));
    const OneToken token(config, *context);
    const auto made = networks(method, config, token, static_cast<double>(state.range(1)) / 100);
    std::vector<float> y(static_cast<std::size_t>(config.width));
    int position = 0;
    const auto pass = [&] {
        for (int layer = 0; layer < config.layers; ++layer)
            made->run(*context, layer, {&position, 1}, token.x(), y.data());
        ++position;
    };
    pass();
    const auto bytes = static_cast<std::size_t>(made->bytes_of_last_run());
    kernels::reference::measure_against_reading(state, *context, bytes, pass);
    state.counters["MB"] = static_cast<double>(bytes) / 1e6;
}

[[maybe_unused]] const bool registered = [] {
    struct Shape {
        const char* name;
        nn::DecoderConfig config;
    };
    for (const Shape& of :
         {Shape{"smollm2-135m", shape(576, 1536, 30)}, Shape{"llama2-7b", shape(4096, 11008, 4)}})
        for (const auto& [name, method] :
             {std::pair{"lte", Method::lte}, {"cats", Method::cats}, {"teal", Method::teal}}) {
            auto* const added = benchmark::RegisterBenchmark(
                (std::string("networks/") + of.name + "/" + name).c_str(),
                [method = method, config = of.config](State& state) {
                    run(state, method, config);
                });
            for (const std::int64_t threads : kernels::reference::thread_counts())
                for (const std::int64_t percent : {0, 50, 75, 90}) added->Args({threads, percent});
            added->ArgNames({"threads", "left_out_percent"});
            added->UseManualTime()->Unit(benchmark::kMillisecond);
        }
    return true;
}();

}  // namespace
}  // namespace assay::decode

BENCHMARK_MAIN();
