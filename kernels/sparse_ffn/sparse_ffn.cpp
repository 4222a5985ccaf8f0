// The sparse feed-forward network of decoding: only active experts' weights are read.
//
// Three regions: the activations of all active neurons; what they add to the output, by chunks of
// experts and slabs of columns with sums of their own; these sums, in order. Every sum has one
// order, whatever the threads.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/context.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/sparse_ffn/activation.hpp"
#include "kernels/sparse_ffn/partition.hpp"

namespace assay::kernels {
namespace {

struct Tokens {
    int count = 0;
    int id[largest_batch];
};

class SparseFfnCall {
  public:
    SparseFfnCall(AssayContext& context, const AssaySparseFfn& call)
        : context_(context),
          call_(call),
          ffn_(call.ffn),
          active_(*call.active_count),
          chunks_(find_chunks()),
          slab_columns_(slab_columns(ffn_.width, call.batch, chunks_, context.pool.threads())),
          row_bytes_(row_bytes(ffn_.type, ffn_.width)),
          activations_(static_cast<float*>(call.workspace)),
          sums_(activations_ + activation_floats(ffn_, call.batch)) {
        aligned_tokens(context, call.x, call.batch, ffn_.width, x_);
    }

    void run() {
        const FirstHalf cut = first_half(ffn_.expert_size, active_, context_.pool.threads());
        context_.pool.run(cut.items, [&](int item) {
            const int from = item / cut.parts * cut.experts, first = item % cut.parts * cut.neurons;
            for (int slot = from; slot < std::min(from + cut.experts, active_); ++slot)
                activate_neurons(slot, first, std::min(cut.neurons, ffn_.expert_size - first));
        });
        const int slabs = (ffn_.width + slab_columns_ - 1) / slab_columns_;
        context_.pool.run(chunks_ * slabs,
                          [&](int item) { add_chunk(item / slabs, item % slabs); });
        context_.pool.run(call_.batch * slabs,
                          [&](int item) { add_sums(item / slabs, item % slabs); });
    }

  private:
    /// Cuts the active experts where their numbers say so; chunks without any are left out, since
    /// they would add zeros.
    int find_chunks() {
        const int cut = chunk_count(ffn_.experts);
        int chunks = 0, slot = 0;
        for (int chunk = 0; chunk < cut; ++chunk) {
            const int end = chunk_begin(chunk + 1, cut, ffn_.experts), begin = slot;
            while (slot < active_ && call_.active[slot] < end) ++slot;
            if (slot == begin) continue;
            first_slot_[chunks++] = begin;
            first_slot_[chunks] = slot;
        }
        return chunks;
    }
    Tokens tokens_of(int expert) const {
        Tokens tokens;
        for (int t = 0; t < call_.batch; ++t)
            if (!call_.mask || call_.mask[static_cast<std::ptrdiff_t>(t) * ffn_.experts + expert])
                tokens.id[tokens.count++] = t;
        return tokens;
    }
    /// Row `neuron` of `expert` in gate, up or down.
    const std::byte* row(const void* weights, int expert, int neuron) const {
        const std::size_t index =
            static_cast<std::size_t>(expert) * static_cast<std::size_t>(ffn_.expert_size) +
            static_cast<std::size_t>(neuron);
        return static_cast<const std::byte*>(weights) + index * row_bytes_;
    }
    /// The active expert behind `slot`; the last follows itself.
    int following(int slot) const { return call_.active[std::min(slot + 1, active_ - 1)]; }
    /// [expert_size][tokens of the expert], in a place that would hold the whole batch.
    float* activations_of(int slot) const {
        return activations_ + static_cast<std::ptrdiff_t>(slot) * ffn_.expert_size * call_.batch;
    }
    float* sums_of(int chunk, int token) const {
        return sums_ + (static_cast<std::ptrdiff_t>(chunk) * call_.batch + token) * ffn_.width;
    }

    void activate_neurons(int slot, int first, int neurons) const {
        const int expert = call_.active[slot];
        const Tokens tokens = tokens_of(expert);
        if (tokens.count == 0) return;
        const float* x[largest_batch];
        for (int t = 0; t < tokens.count; ++t) x[t] = x_[tokens.id[t]];
        const DotRows dot_rows = context_.instructions.dot_rows->of_type[ffn_.type];
        const bool gated = ffn_.activation == ASSAY_SWIGLU;

        constexpr int together = 32;
        for (int done = 0; done < neurons; done += together) {
            const int neuron = first + done;
            const int rows = std::min(together, neurons - done);
            float gate[together * largest_batch], up[together * largest_batch];
            const std::byte* const up_rows = row(ffn_.up, expert, neuron);
            const void* const first_read = gated ? ffn_.gate : ffn_.up;
            const std::byte* const next = done + together < neurons
                                              ? row(first_read, expert, neuron + together)
                                              : row(first_read, following(slot), first);
            if (gated)
                dot_rows(row(ffn_.gate, expert, neuron), row_bytes_, rows, ffn_.width, x,
                         tokens.count, gate, up_rows);
            dot_rows(up_rows, row_bytes_, rows, ffn_.width, x, tokens.count, up, next);
            float* const out = activations_of(slot) + neuron * tokens.count;
            for (int r = 0; r < rows; ++r) {
                const float bias =
                    ffn_.up_bias
                        ? ffn_.up_bias[static_cast<std::ptrdiff_t>(expert) * ffn_.expert_size +
                                       neuron + r]
                        : 0.0f;
                for (int t = 0; t < tokens.count; ++t) {
                    const int at = r * tokens.count + t;
                    out[at] = activate(ffn_.activation, gated ? gate[at] : 0.0f, up[at] + bias);
                }
            }
        }
    }

    void add_chunk(int chunk, int slab) const {
        const int column = slab * slab_columns_;
        const int columns = std::min(slab_columns_, ffn_.width - column);
        for (int t = 0; t < call_.batch; ++t)
            std::memset(sums_of(chunk, t) + column, 0,
                        static_cast<std::size_t>(columns) * sizeof(float));
        const AddRows add_rows = context_.instructions.add_rows->of_type[ffn_.type];
        const std::size_t skipped = row_bytes(ffn_.type, column);
        for (int slot = first_slot_[chunk]; slot < first_slot_[chunk + 1]; ++slot) {
            const Tokens tokens = tokens_of(call_.active[slot]);
            if (tokens.count == 0) continue;
            float* y[largest_batch];
            for (int t = 0; t < tokens.count; ++t) y[t] = sums_of(chunk, tokens.id[t]) + column;
            add_rows(row(ffn_.down, call_.active[slot], 0) + skipped, row_bytes_, ffn_.expert_size,
                     columns, activations_of(slot), tokens.count, y,
                     row(ffn_.down, following(slot), 0) + skipped);
        }
    }

    void add_sums(int token, int slab) const {
        const int column = slab * slab_columns_;
        const int columns = std::min(slab_columns_, ffn_.width - column);
        float* const y = call_.y + static_cast<std::ptrdiff_t>(token) * ffn_.width + column;
        for (int c = 0; c < columns; ++c) y[c] = ffn_.down_bias ? ffn_.down_bias[column + c] : 0.0f;
        for (int chunk = 0; chunk < chunks_; ++chunk) {
            const float* const sums = sums_of(chunk, token) + column;
            for (int c = 0; c < columns; ++c) y[c] += sums[c];
        }
    }

    AssayContext& context_;
    const AssaySparseFfn& call_;
    const AssayFfn& ffn_;
    int active_;
    int first_slot_[most_chunks + 1] = {};  // of each chunk, and the end
    int chunks_, slab_columns_;
    std::size_t row_bytes_;
    float* activations_;
    float* sums_;
    const float* x_[largest_batch];
};

}  // namespace

AssayStatus sparse_ffn(AssayContext& context, const AssaySparseFfn& call) {
    if (const AssayStatus status = check_sparse_ffn(context, call); status != ASSAY_OK)
        return status;
    SparseFfnCall(context, call).run();
    return ASSAY_OK;
}

}  // namespace assay::kernels
