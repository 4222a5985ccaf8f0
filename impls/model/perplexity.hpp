// Perplexity and bits per byte of a text under a model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/text/tokenizer.hpp"
#include "impls/tensors/part.hpp"

namespace assay::model {

/// How a window of tokens is scored.
class WindowScorer {
  public:
    virtual ~WindowScorer() = default;
    /// Nats of all tokens but the first, each given those before it in the window. `progress` hears
    /// how many are done.
    virtual double nll(std::span<const int> window,
                       const std::function<void(std::int64_t)>& progress) = 0;
};

struct ScorerOptions {
    int context = 0;    ///< longest window
    bool bf16 = false;  ///< else fp32
    int threads = 0;    ///< 0: all allowed cores
};

/// The decoding engine on the CPU.
std::unique_ptr<WindowScorer> engine_scorer(const nn::TensorFile& file,
                                            const ScorerOptions& options);
/// libtorch: the decoder that also trains.
inline const tensors::Part<std::unique_ptr<WindowScorer>(const nn::TensorFile&,
                                                         const ScorerOptions&)>
    libtorch_scorer{"model/libtorch_scorer"};

struct Perplexity {
    std::int64_t tokens = 0;  ///< scored: all but each window's first
    std::int64_t bytes = 0;   ///< that the scored tokens stand for
    double nll_nats = 0;      ///< of all scored tokens
    double seconds = 0;

    double nll_nats_per_token() const;
    double perplexity() const;
    double bits_per_byte() const;
};

/// Windows of `context` tokens one after another, without overlap and with nothing added in front;
/// the last may be shorter. Throws UserError when no token can be scored or the context is below 2.
Perplexity measure_perplexity(std::span<const int> ids, const nn::Tokenizer& tokenizer, int context,
                              WindowScorer& scorer,
                              const std::function<void(std::int64_t)>& progress = {});

/// {"tokens","nll_nats_per_token","perplexity","bits_per_byte","seconds"}.
nlohmann::json to_json(const Perplexity& result);

}  // namespace assay::model
