// What a service puts around a back end: durations of a modelled device, and a fault.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "impls/decode/modelled/modelled_back_end.hpp"

namespace assay::decode::service {

class ServedBackEnd final : public BackEnd {
  public:
    /// `cost`: what step_seconds() says in place of the time that was measured.
    ServedBackEnd(std::unique_ptr<BackEnd> inner, std::optional<StepCost> cost);

    int vocabulary() const override { return inner_->vocabulary(); }
    int context() const override { return inner_->context(); }
    int blocks() const override { return inner_->blocks(); }
    std::size_t block_bytes() const override { return inner_->block_bytes(); }
    std::string identity() const override { return inner_->identity(); }
    bool fits(const ModelWeights& weights) const override { return inner_->fits(weights); }
    void use(std::shared_ptr<ModelWeights> weights) override { inner_->use(std::move(weights)); }
    void run(std::span<const Slice> slices, std::span<Outcome> out) override;
    void copy_block(int from, int to, int positions) override {
        inner_->copy_block(from, to, positions);
    }
    bool can_link() const override { return inner_->can_link(); }
    void link(const LinkedPositions& linked) override { inner_->link(linked); }
    std::uint64_t step_bytes() const override { return inner_->step_bytes(); }
    void read_block(int block, std::span<std::byte> out) const override;
    void write_block(int block, std::span<const std::byte> in) override;
    double step_seconds() const override { return cost_ ? step_s_ : inner_->step_seconds(); }

    /// Seconds for blocks that went to or came from the host's memory since the last step or call:
    /// they are no part of the next step any more. 0 where durations are measured.
    double take_transfer_seconds() const;
    /// In the next step this slice (counted round) gives no finite logits.
    void fail_next(std::int64_t slice) { fails_ = slice; }

  private:
    std::unique_ptr<BackEnd> inner_;
    std::optional<StepCost> cost_;
    std::optional<std::int64_t> fails_;
    mutable std::int64_t transferred_ = 0;  // blocks
    double step_s_ = 0;
};

}  // namespace assay::decode::service
