// One sequence through the forward pass, so that its logits can be seen: engines give tokens alone.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "impls/decode/back_end.hpp"
#include "impls/decode/cpu/forward_pass.hpp"

namespace assay::decode {

class LoneSequence {
  public:
    explicit LoneSequence(std::shared_ptr<CpuModel> model, int threads = 0)
        : blocks_(static_cast<std::size_t>(blocks_for(model->config.context))),
          pass_(std::move(model),
                {.blocks = static_cast<int>(blocks_.size()), .threads = threads}) {
        std::iota(blocks_.begin(), blocks_.end(), 0);
    }
    explicit LoneSequence(const nn::TensorFile& file, const ModelOptions& options = {},
                          int threads = 0)
        : LoneSequence(load_model(file, options), threads) {}

    const nn::DecoderConfig& config() const { return pass_.model().config; }
    int position() const { return position_; }
    void reset() { position_ = 0; }
    /// That the last pass read.
    std::uint64_t bytes() const { return pass_.bytes_of_last_run(); }

    /// Feeds ids behind what was fed before; the logits after the last, until the next call.
    std::span<const float> feed(std::span<const int> ids) {
        for (; ids.size() > most(); ids = ids.subspan(most())) run(ids.first(most()), false);
        run(ids, false);
        return pass_.logits(0);
    }
    /// The same for what one pass takes, and the logits after each, [ids][vocabulary].
    std::vector<float> feed_each(std::span<const int> ids) {
        run(ids, true);
        const float* const first = pass_.logits(0).data();
        return {first, first + ids.size() * static_cast<std::size_t>(config().vocabulary)};
    }
    /// Ids that one pass takes.
    std::size_t most() const { return static_cast<std::size_t>(pass_.most_tokens()); }

  private:
    void run(std::span<const int> ids, bool each) {
        std::vector<FedToken> tokens;
        std::vector<int> wanted(ids.size());
        std::iota(wanted.begin(), wanted.end(), 0);
        for (const int id : ids) tokens.push_back({id, position_++, blocks_.data()});
        pass_.run(tokens, each ? std::span(wanted) : std::span(wanted).last(1));
    }

    std::vector<int> blocks_;
    ForwardPass pass_;
    int position_ = 0;
};

}  // namespace assay::decode
