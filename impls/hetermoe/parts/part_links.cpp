#include "impls/hetermoe/parts/part_links.hpp"

#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "suite/cluster/collectives/in_process.hpp"

namespace assay::hetermoe {
namespace {

using cluster::Dtype;

at::ScalarType type_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::f32:
            return at::kFloat;
        case Dtype::f64:
            return at::kDouble;
        case Dtype::bf16:
            return at::kBFloat16;
        default:
            return at::kByte;
    }
}

class PartLinks final : public cluster::Communicator {
  public:
    PartLinks(std::unique_ptr<Communicator> threads, at::Device device)
        : threads_(std::move(threads)), device_(device) {
        if (!device.is_cpu())
            stream_ = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
    }

    int rank() const override { return threads_->rank(); }
    int size() const override { return threads_->size(); }

    void all_to_all_v(const void* send, std::span<const std::int64_t> send_counts, void* recv,
                      std::span<const std::int64_t> recv_counts, Dtype dtype) override {
        if (dtype == Dtype::i64)
            return threads_->all_to_all_v(send, send_counts, recv, recv_counts, dtype);
        cluster::checked_total(send_counts, size(), "send_counts");
        cluster::checked_total(recv_counts, size(), "recv_counts");
        const auto ranks = static_cast<std::size_t>(size()),
                   mine = static_cast<std::size_t>(rank());
        // Of every rank: where its rows lie, and how many are for whom.
        std::vector<std::int64_t> own{reinterpret_cast<std::int64_t>(send)};
        own.insert(own.end(), send_counts.begin(), send_counts.end());
        const std::vector<std::int64_t> all = gathered(own);
        {
            const auto on_stream = guard();
            auto* into = static_cast<std::byte*>(recv);
            for (std::size_t from = 0; from < ranks; ++from) {
                const auto* const theirs = &all[from * own.size()];
                if (theirs[1 + mine] != recv_counts[from]) {
                    threads_->abort("ranks disagree on what they exchange");
                    throw std::logic_error("a rank sends another number than is expected");
                }
                const std::int64_t before =
                    std::accumulate(theirs + 1, theirs + 1 + mine, std::int64_t{0});
                const auto width = static_cast<std::int64_t>(cluster::size_of(dtype));
                const std::int64_t bytes = recv_counts[from] * width;
                if (bytes > 0)
                    view(into, bytes, at::kByte)
                        .copy_(view(reinterpret_cast<std::byte*>(theirs[0]) + before * width, bytes,
                                    at::kByte));
                into += bytes;
            }
            finish();
        }
        barrier();  // nobody reads what was sent any longer
    }

    void all_reduce_sum(void* data, std::size_t count, Dtype dtype) override {
        if (dtype == Dtype::i64) return threads_->all_reduce_sum(data, count, dtype);
        const std::vector<std::int64_t> all = gathered({reinterpret_cast<std::int64_t>(data)});
        // A slice for each rank, which gives the sum to everyone.
        const auto begin_of = [&](int rank) {
            return static_cast<std::int64_t>(count) * rank / size();
        };
        const std::int64_t begin = begin_of(rank()), length = begin_of(rank() + 1) - begin;
        {
            const auto on_stream = guard();
            std::vector<at::Tensor> slices;
            for (const std::int64_t address : all)
                slices.push_back(view(reinterpret_cast<void*>(address),
                                      static_cast<std::int64_t>(count), type_of(dtype))
                                     .narrow(0, begin, length));
            const at::Tensor sum = slices.front().clone();
            for (std::size_t i = 1; i < slices.size(); ++i) sum.add_(slices[i]);
            for (const at::Tensor& slice : slices) slice.copy_(sum);
            finish();
        }
        barrier();
    }

    void all_gather(const void* send, std::size_t count, void* recv, Dtype dtype) override {
        threads_->all_gather(send, count, recv, dtype);
    }
    void broadcast(void* data, std::size_t count, Dtype dtype, int root) override {
        threads_->broadcast(data, count, dtype, root);
    }
    void send(const void* data, std::size_t count, Dtype dtype, int to) override {
        threads_->send(data, count, dtype, to);
    }
    void recv(void* data, std::size_t count, Dtype dtype, int from) override {
        threads_->recv(data, count, dtype, from);
    }
    void barrier() override { threads_->barrier(); }
    void abort(const std::string& why) noexcept override { threads_->abort(why); }
    std::unique_ptr<Communicator> shrink(std::span<const int> survivors,
                                         const std::string& key) override {
        return std::make_unique<PartLinks>(threads_->shrink(survivors, key), device_);
    }

  private:
    std::vector<std::int64_t> gathered(const std::vector<std::int64_t>& own) {
        std::vector<std::int64_t> all(own.size() * static_cast<std::size_t>(size()));
        threads_->all_gather(own.data(), own.size(), all.data(), Dtype::i64);
        return all;
    }
    at::Tensor view(void* data, std::int64_t elements, at::ScalarType type) const {
        return at::from_blob(data, {elements}, at::TensorOptions().dtype(type).device(device_));
    }
    std::optional<c10::StreamGuard> guard() const {
        return stream_ ? std::optional<c10::StreamGuard>(std::in_place, *stream_) : std::nullopt;
    }
    void finish() const {
        if (stream_) stream_->synchronize();
    }

    std::unique_ptr<Communicator> threads_;
    at::Device device_;
    std::optional<c10::Stream> stream_;
};

}  // namespace

std::vector<std::unique_ptr<cluster::Communicator>> make_part_links(int ranks, c10::Device device) {
    std::vector<std::unique_ptr<cluster::Communicator>> links;
    // A GPU may take its time over a task, and longer over the first one.
    for (auto& threads : cluster::make_in_process_group(ranks, std::chrono::minutes(3)))
        links.push_back(std::make_unique<PartLinks>(std::move(threads), device));
    return links;
}

}  // namespace assay::hetermoe
