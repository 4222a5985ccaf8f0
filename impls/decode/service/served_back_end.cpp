#include "impls/decode/service/served_back_end.hpp"

#include <utility>

namespace assay::decode::service {

ServedBackEnd::ServedBackEnd(std::unique_ptr<BackEnd> inner, std::optional<StepCost> cost)
    : inner_(std::move(inner)), cost_(cost) {}

void ServedBackEnd::run(std::span<const Slice> slices, std::span<Outcome> out) {
    inner_->run(slices, out);
    if (cost_) step_s_ = cost_->seconds(slices) + take_transfer_seconds();
    if (fails_ && !slices.empty())
        out[static_cast<std::size_t>(*std::exchange(fails_, {})) % slices.size()].finite = false;
}

void ServedBackEnd::read_block(int block, std::span<std::byte> out) const {
    ++transferred_;
    inner_->read_block(block, out);
}

void ServedBackEnd::write_block(int block, std::span<const std::byte> in) {
    ++transferred_;
    inner_->write_block(block, in);
}

double ServedBackEnd::take_transfer_seconds() const {
    const auto blocks = static_cast<double>(std::exchange(transferred_, 0));
    return cost_ ? blocks * cost_->block_s : 0;
}

}  // namespace assay::decode::service
