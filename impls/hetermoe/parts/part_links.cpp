#include "impls/hetermoe/parts/part_links.hpp"

#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <condition_variable>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "suite/cluster/collectives/in_process.hpp"
#include "suite/cluster/collectives/scalar_type.hpp"

namespace assay::hetermoe {
namespace {

using cluster::Dtype;

/// Memory that ranks lend each other while they exchange something. A barrier alone does not keep
/// it: where a third rank breaks the group nobody waits there any longer, and a peer may still be
/// copying.
class Lending {
    struct Lent {
        bool open = false;
        int users = 0;
        std::int64_t exchange = 0;  ///< that it is for; all ranks count alike
    };

  public:
    explicit Lending(int ranks) : lent_(static_cast<std::size_t>(ranks)) {}

    /// Of one rank, as long as it lives; going, it waits for those that use the memory, who wait
    /// for nobody.
    class [[nodiscard]] Loan {
      public:
        Loan(Lending& lending, int rank) : lending_(lending), mine_(lending.at(rank)) {
            const std::lock_guard lock(lending_.mutex_);
            mine_.open = true;
            ++mine_.exchange;
        }
        ~Loan() {
            std::unique_lock lock(lending_.mutex_);
            mine_.open = false;
            lending_.returned_.wait(lock, [&] { return mine_.users == 0; });
        }
        Loan(const Loan&) = delete;
        Loan& operator=(const Loan&) = delete;

      private:
        Lending& lending_;
        Lent& mine_;
    };
    /// By one rank, of everybody's memory. Throws CommunicatorBroken where a rank has gone, though
    /// it may have come to the next exchange already, with other memory.
    class [[nodiscard]] Use {
      public:
        Use(Lending& lending, int rank) : lending_(lending) {
            const std::lock_guard lock(lending_.mutex_);
            const std::int64_t exchange = lending_.at(rank).exchange;
            for (const Lent& lent : lending_.lent_)
                if (!lent.open || lent.exchange != exchange)
                    throw cluster::CommunicatorBroken("a rank left the exchange");
            for (Lent& lent : lending_.lent_) ++lent.users;
        }
        ~Use() {
            const std::lock_guard lock(lending_.mutex_);
            for (Lent& lent : lending_.lent_) --lent.users;
            lending_.returned_.notify_all();
        }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

      private:
        Lending& lending_;
    };

  private:
    Lent& at(int rank) { return lent_[static_cast<std::size_t>(rank)]; }

    std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<Lent> lent_;  // by rank
};

class PartLinks final : public cluster::Communicator {
  public:
    PartLinks(std::unique_ptr<Communicator> threads, at::Device device,
              std::shared_ptr<Lending> lending, std::function<void(int)> copies)
        : threads_(std::move(threads)),
          device_(device),
          lending_(std::move(lending)),
          copies_(std::move(copies)) {
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
        const Lending::Loan loan(*lending_, rank());
        const std::vector<std::int64_t> all = gathered(own);
        const auto told_by = [&](std::size_t from) { return &all[from * own.size()]; };
        for (std::size_t from = 0; from < ranks; ++from)
            if (told_by(from)[1 + mine] != recv_counts[from]) {
                threads_->abort("ranks disagree on what they exchange");
                throw std::logic_error("a rank sends another number than is expected");
            }
        copy([&] {
            auto* into = static_cast<std::byte*>(recv);
            for (std::size_t from = 0; from < ranks; ++from) {
                const auto* const theirs = told_by(from);
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
        });
        barrier();  // nobody reads what was sent any longer
    }

    std::vector<std::span<const std::byte>> exchange_messages(
        std::span<const cluster::Message> messages) override {
        return threads_->exchange_messages(messages);
    }

    void all_reduce_sum(void* data, std::size_t count, Dtype dtype) override {
        if (dtype == Dtype::i64) return threads_->all_reduce_sum(data, count, dtype);
        const Lending::Loan loan(*lending_, rank());
        const std::vector<std::int64_t> all = gathered({reinterpret_cast<std::int64_t>(data)});
        // A slice for each rank, which gives the sum to everyone.
        const auto begin_of = [&](int rank) {
            return static_cast<std::int64_t>(count) * rank / size();
        };
        const std::int64_t begin = begin_of(rank()), length = begin_of(rank() + 1) - begin;
        copy([&] {
            std::vector<at::Tensor> slices;
            for (const std::int64_t address : all)
                slices.push_back(view(reinterpret_cast<void*>(address),
                                      static_cast<std::int64_t>(count), cluster::scalar_type(dtype))
                                     .narrow(0, begin, length));
            const at::Tensor sum = slices.front().clone();
            for (std::size_t i = 1; i < slices.size(); ++i) sum.add_(slices[i]);
            for (const at::Tensor& slice : slices) slice.copy_(sum);
        });
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
    std::unique_ptr<Communicator> shrink(std::span<const int>, const std::string&) override {
        throw std::logic_error("parts of a GPU are not lost, so nothing shrinks");
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
    // On the stream of these links; what was launched has been done when this returns or throws.
    template <class Copies>
    void copy(const Copies& copies) {
        const Lending::Use use(*lending_, rank());
        if (copies_) copies_(rank());
        if (!stream_) return copies();
        const c10::StreamGuard on_stream(*stream_);
        try {
            copies();
        } catch (...) {
            stream_->synchronize();
            throw;
        }
        stream_->synchronize();
    }

    std::unique_ptr<Communicator> threads_;
    at::Device device_;
    std::shared_ptr<Lending> lending_;
    std::function<void(int)> copies_;
    std::optional<c10::Stream> stream_;
};

}  // namespace

std::vector<std::unique_ptr<cluster::Communicator>> make_part_links(
    int ranks, c10::Device device, const std::function<void(int rank)>& copies) {
    std::vector<std::unique_ptr<cluster::Communicator>> links;
    const auto lending = std::make_shared<Lending>(ranks);
    // A GPU may take its time over a task, and longer over the first one.
    for (auto& threads : cluster::make_in_process_group(ranks, std::chrono::minutes(3)))
        links.push_back(std::make_unique<PartLinks>(std::move(threads), device, lending, copies));
    return links;
}

}  // namespace assay::hetermoe
