#include "impls/nn/training/training_loop.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <malloc.h>

#include <cmath>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "suite/base/error.hpp"

namespace assay::nn {
namespace {

/// What a checkpoint holds beside the blocks.
struct TrainingState {
    std::int64_t step = 0;             ///< updates done
    std::vector<double> first_losses;  ///< task losses of the first steps
    nlohmann::json extra;              ///< the caller's
};

constexpr auto format_name = "assay-training-state 1";

nlohmann::json description(const std::vector<TrainedBlock>& blocks) {
    auto list = nlohmann::json::array();
    for (const auto& [block, factor] : blocks) {
        nlohmann::json entry{{"name", block->name()},
                             {"elements", block->count()},
                             {"type", c10::toString(block->values().scalar_type())}};
        if (factor != 1) entry["rate_factor"] = factor;
        list.push_back(std::move(entry));
    }
    return list;
}

nlohmann::json description(const TrainingOptions& options) {
    return {{"steps", options.steps},      {"learning_rate", options.learning_rate},
            {"warmup", options.warmup},    {"decay_to_zero", options.decay_to_zero},
            {"beta1", options.beta1},      {"beta2", options.beta2},
            {"epsilon", options.epsilon},  {"clip", options.clip},
            {"diverged", options.diverged}};
}

[[noreturn]] void refuse_checkpoint(const std::string& name, const std::string& why) {
    throw UserError("the checkpoint of training \"" + name + "\" " + why +
                    "; remove it to start anew, or give the settings it was made with");
}

/// One line of JSON, then the bytes of each block's values and moments.
void write_state(std::ostream& out, const std::string& name,
                 const std::vector<TrainedBlock>& blocks, const TrainingOptions& options,
                 const TrainingState& state) {
    const nlohmann::json head{{"format", format_name},
                              {"training", name},
                              {"step", state.step},
                              {"first_losses", state.first_losses},
                              {"blocks", description(blocks)},
                              {"options", description(options)},
                              {"extra", state.extra}};
    out << head.dump() << '\n';
    for (const auto& [block, factor] : blocks) {
        for (const auto& part : block->state()) {
            const auto here = part.cpu();
            out.write(static_cast<const char*>(here.const_data_ptr()),
                      static_cast<std::streamsize>(here.nbytes()));
        }
    }
}

/// Fills the blocks. Throws UserError, the blocks untouched, when the state is of other blocks or
/// of a training with other options.
TrainingState read_state(std::istream& in, const std::string& name,
                         const std::vector<TrainedBlock>& blocks, const TrainingOptions& options) {
    std::string line;
    std::getline(in, line);
    const auto head = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!head.is_object() || head.value("format", "") != format_name)
        refuse_checkpoint(name, "is not one of this program's version");
    if (head.at("training") != name) refuse_checkpoint(name, "is of another training");
    if (head.at("blocks") != description(blocks))
        refuse_checkpoint(name, "is of a model of another shape or with other rates");
    if (head.at("options") != description(options))
        refuse_checkpoint(name, "was made with other options");

    at::NoGradGuard no_grad;
    std::vector<std::pair<at::Tensor, at::Tensor>> parts;  // of the blocks, and as read
    for (const auto& [block, factor] : blocks) {
        for (const auto& part : block->state()) {
            auto here = at::empty(part.sizes(), part.options().device(at::kCPU));
            in.read(static_cast<char*>(here.mutable_data_ptr()),
                    static_cast<std::streamsize>(here.nbytes()));
            if (!in) refuse_checkpoint(name, "ends early");
            parts.emplace_back(part, std::move(here));
        }
    }
    if (in.peek() != std::istream::traits_type::eof())
        refuse_checkpoint(name, "is longer than it says");
    for (auto& [part, read] : parts) part.copy_(read);
    return {head.at("step"), head.at("first_losses"), head.at("extra")};
}

constexpr std::size_t first_steps = 10;  // whose mean loss divergence is measured against

void check_loss(const TrainingState& state, const TrainingStep& step, double loss,
                const TrainingOptions& options) {
    if (!std::isfinite(loss) || !std::isfinite(step.task_loss)) {
        const double shown = std::isfinite(loss) ? step.task_loss : loss;
        throw TrainingDiverged(state.step, shown,
                               fmt::format("the loss is {} at step {}; a lower learning rate or a "
                                           "longer warm-up may help",
                                           shown, state.step));
    }
    if (state.first_losses.size() < first_steps) return;
    double mean = 0;
    for (double first : state.first_losses) mean += first / static_cast<double>(first_steps);
    if (step.task_loss > options.diverged * mean) {
        throw TrainingDiverged(
            state.step, step.task_loss,
            fmt::format("the loss of {:.4g} at step {} is more than {} times the {:.4g} of the "
                        "first {} steps; a lower learning rate or a longer warm-up may help",
                        step.task_loss, state.step, options.diverged, mean, first_steps));
    }
}

// Each step frees what the next one asks for again. Kept by the process to its end, it need not be
// cleared by the kernel every time: 5 to 10 % of a toy step, a sixth of one of SmolLM2, whose
// logits are larger than any threshold that glibc accepts. (Other threads than the main one still
// map what is large.)
void keep_freed_memory() {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
}

void update(const std::vector<TrainedBlock>& blocks, const TrainingOptions& options,
            const TrainingState& state, double loss) {
    const double norm = gradient_norm(blocks);
    if (!std::isfinite(norm)) {
        throw TrainingDiverged(
            state.step, loss,
            fmt::format("the gradient's norm is {} at step {} (loss {:.4g}); a lower learning rate "
                        "or a longer warm-up may help",
                        norm, state.step, loss));
    }
    if (options.clip > 0 && norm > options.clip)
        for (const auto& [block, factor] : blocks) block->grad().mul_(options.clip / norm);
    const double rate = learning_rate(options, state.step);
    for (const auto& [block, factor] : blocks)
        adam_update(*block, state.step + 1,
                    {rate * factor, options.beta1, options.beta2, options.epsilon});
}

}  // namespace

double learning_rate(const TrainingOptions& options, std::int64_t step) {
    const auto rising =
        static_cast<std::int64_t>(std::ceil(options.warmup * static_cast<double>(options.steps)));
    if (step < rising) {
        return options.learning_rate * static_cast<double>(step + 1) / static_cast<double>(rising);
    }
    if (!options.decay_to_zero) return options.learning_rate;
    return options.learning_rate * static_cast<double>(options.steps - step) /
           static_cast<double>(options.steps - rising);
}

double gradient_norm(const std::vector<TrainedBlock>& blocks) {
    // Each block's own sum is a reduction of fixed order. They are fetched together: on a GPU every
    // fetch waits for all that was launched before.
    std::vector<at::Tensor> norms;
    for (const auto& [block, factor] : blocks)
        norms.push_back(at::linalg_vector_norm(block->grad()).to(at::kDouble));
    const auto here = at::stack(norms).cpu();
    double sum = 0;
    for (std::int64_t i = 0; i < here.numel(); ++i) {
        const double norm = here.const_data_ptr<double>()[i];
        sum += norm * norm;
    }
    return std::sqrt(sum);
}

void train(const std::string& name, std::vector<TrainedBlock> blocks,
           const TrainingOptions& options, const TrainingCallbacks& callbacks, StateKeeper& keeper,
           std::int64_t checkpoint_every) {
    keep_freed_memory();
    TrainingState state;
    const auto save = [&] {
        state.extra = callbacks.save_extra ? callbacks.save_extra() : nlohmann::json();
        keeper.save(name,
                    [&](std::ostream& out) { write_state(out, name, blocks, options, state); });
    };
    const bool resumed =
        keeper.load(name, [&](std::istream& in) { state = read_state(in, name, blocks, options); });
    if (!resumed) {
        // Moments of an earlier training would be taken for those of step 1, whose bias is
        // corrected as if they had started at zero.
        for (const auto& [block, factor] : blocks) block->zero_moments();
    } else if (callbacks.load_extra) {
        callbacks.load_extra(state.extra);
    }

    while (state.step < options.steps) {
        for (const auto& [block, factor] : blocks) block->zero_grad();
        auto step = callbacks.loss(state.step);
        const double loss = step.loss.item<double>();
        check_loss(state, step, loss, options);
        if (callbacks.backward)
            callbacks.backward(state.step, step);
        else
            step.loss.backward();
        step.loss = step.loss.detach();  // lets go of the graph
        update(blocks, options, state, loss);
        if (state.first_losses.size() < first_steps) state.first_losses.push_back(step.task_loss);
        ++state.step;
        if (callbacks.after) callbacks.after(state.step - 1, step);
        const bool last = state.step == options.steps;
        if (last || (checkpoint_every > 0 && state.step % checkpoint_every == 0)) save();
    }
}

}  // namespace assay::nn
