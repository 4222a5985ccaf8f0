// Plans answered by the engine on this machine, as samples of experiments.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "impls/decode/cpu/forward_pass.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "impls/plato/campaign/served_answers.hpp"
#include "impls/plato/live/live_run.hpp"
#include "impls/plato/simulated/step_model.hpp"

namespace assay::plato {

/// The model's file, its tokenizer, and engines with its weights.
class LiveModel {
  public:
    /// Throws UserError: no such file.
    explicit LiveModel(decode::ActivationType activations = decode::ActivationType::exact);
    const nn::Tokenizer& tokenizer() const { return tokenizer_; }
    const nn::TensorFile& file() const { return file_; }
    std::unique_ptr<decode::BackEnd> back_end(int blocks) const;
    /// For logits, without an engine.
    std::unique_ptr<decode::ForwardPass> forward_pass(int blocks) const;
    /// Engines in processes, that share this machine's cores; caches have room for all of it.
    ServedSetup served(std::vector<QuestionTokens> questions, int engines) const;
    /// Questions one after the other; without steps and what the controller takes.
    LiveRun run_on_processes(const std::vector<QuestionTokens>& questions,
                             const LiveSettings& settings, int engines) const;
    /// With as many blocks as it needs.
    LiveRun run(std::span<const QuestionTokens> questions, const LiveSettings& settings) const;

  private:
    std::filesystem::path path_;
    nn::TensorFile file_;
    nn::Tokenizer tokenizer_;
    decode::ActivationType activations_;
};

/// Least squares over steps: C0 + C1 · sequences + P · prompt tokens, none below 0. Where all steps
/// have one sequence, C1 is 0.
StepCosts fitted_costs(std::span<const LiveStep> steps);

/// Of plans answered one at a time: by how much of its time each schedule in virtual time, at these
/// costs, misses it; the median.
double median_error(std::span<const QuestionTokens> questions, const LiveRun& run,
                    const StepCosts& costs, const LiveSettings& settings);

}  // namespace assay::plato
