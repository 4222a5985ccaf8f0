#include "suite/cluster/gloo/gloo_communicator.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace assay::cluster {
namespace {

using Work = c10::intrusive_ptr<c10d::Work>;

at::ScalarType scalar_type(Dtype dtype) {
    switch (dtype) {
        case Dtype::u8:
            return at::kByte;
        case Dtype::i64:
            return at::kLong;
        case Dtype::f32:
            return at::kFloat;
        case Dtype::f64:
            return at::kDouble;
        case Dtype::bf16:
            return at::kBFloat16;
    }
    throw std::invalid_argument("unknown dtype");
}

/// c10d notes every group at its first operation in a map of the whole process, without a lock (the
/// flight recorder of torch 2.11, see switch_off_flight_recorder()). So one operation starts at a
/// time; to start it only queues it.
std::mutex starting;

class GlooCommunicator final : public Communicator {
  public:
    explicit GlooCommunicator(GlooMember member)
        : group_(std::move(member.group)),
          state_(std::move(member.state)),
          rank_(member.rank),
          size_(member.size),
          timeout_(member.timeout),
          make_group_(std::move(member.make_group)) {}

    ~GlooCommunicator() override { leave(); }

    int rank() const override { return rank_; }
    int size() const override { return size_; }

    // Data that is only moved travels as bytes, whatever it is.
    void all_to_all_v(const void* send, std::span<const std::int64_t> send_counts, void* recv,
                      std::span<const std::int64_t> recv_counts, Dtype dtype) override {
        const auto element = static_cast<std::int64_t>(size_of(dtype));
        const auto out_bytes = checked_total(send_counts, size_, "send_counts") * element;
        const auto in_bytes = checked_total(recv_counts, size_, "recv_counts") * element;
        state_->throw_if_broken();
        if (size_ == 1) {
            if (out_bytes != in_bytes) {
                throw std::invalid_argument("all_to_all_v: one rank sends itself what it receives");
            }
            return copy(recv, send, in_bytes);
        }
        std::vector<std::int64_t> out_split(send_counts.begin(), send_counts.end());
        std::vector<std::int64_t> in_split(recv_counts.begin(), recv_counts.end());
        for (auto& count : out_split) count *= element;
        for (auto& count : in_split) count *= element;
        at::Tensor out = bytes(out_, out_bytes), in = bytes(in_, in_bytes);
        copy(out.data_ptr(), send, out_bytes);
        run("all_to_all_v", [&] { return group_->alltoall_base(in, out, in_split, out_split); });
        copy(recv, in.data_ptr(), in_bytes);
    }

    void all_gather(const void* send, std::size_t count, void* recv, Dtype dtype) override {
        state_->throw_if_broken();
        const std::size_t each = count * size_of(dtype);
        if (size_ == 1) return copy(recv, send, each);
        if (each == 0) return;
        at::Tensor out = bytes(out_, each), in = bytes(in_, each * size_);
        copy(out.data_ptr(), send, each);
        run("all_gather", [&] { return group_->_allgather_base(in, out); });
        copy(recv, in.data_ptr(), each * size_);
    }

    void all_reduce_sum(void* data, std::size_t count, Dtype dtype) override {
        state_->throw_if_broken();
        if (size_ == 1 || count == 0) return;
        const std::size_t total = count * size_of(dtype);
        at::Tensor raw = bytes(out_, total);
        copy(raw.data_ptr(), data, total);
        std::vector<at::Tensor> tensors{at::from_blob(
            raw.data_ptr(), {static_cast<std::int64_t>(count)}, [raw](void*) {},
            at::TensorOptions().dtype(scalar_type(dtype)))};
        run("all_reduce_sum", [&] { return group_->allreduce(tensors); });
        copy(data, raw.data_ptr(), total);
    }

    void broadcast(void* data, std::size_t count, Dtype dtype, int root) override {
        check_root(root, size_);
        state_->throw_if_broken();
        if (size_ == 1 || count == 0) return;
        const std::size_t total = count * size_of(dtype);
        std::vector<at::Tensor> tensors{bytes(out_, total)};
        if (rank_ == root) copy(tensors[0].data_ptr(), data, total);
        c10d::BroadcastOptions options;
        options.rootRank = root;
        run("broadcast", [&] { return group_->broadcast(tensors, options); });
        if (rank_ != root) copy(data, tensors[0].data_ptr(), total);
    }

    void send(const void* data, std::size_t count, Dtype dtype, int to) override {
        check_peer(to, rank_, size_, "send");
        state_->throw_if_broken();
        if (count == 0) return;
        std::vector<at::Tensor> tensors{bytes(out_, count * size_of(dtype))};
        copy(tensors[0].data_ptr(), data, count * size_of(dtype));
        run_point_to_point("send", [&] { return group_->send(tensors, to, 0); });
    }

    void recv(void* data, std::size_t count, Dtype dtype, int from) override {
        check_peer(from, rank_, size_, "recv");
        state_->throw_if_broken();
        if (count == 0) return;
        std::vector<at::Tensor> tensors{bytes(in_, count * size_of(dtype))};
        run_point_to_point("recv", [&] { return group_->recv(tensors, from, 0); });
        copy(data, tensors[0].data_ptr(), count * size_of(dtype));
    }

    void barrier() override {
        state_->throw_if_broken();
        if (size_ > 1) run("barrier", [&] { return group_->barrier(); });
    }

    void abort(const std::string& why) noexcept override {
        try {
            state_->break_for("aborted: " + why);
        } catch (const std::exception&) {
            // Out of memory for the text; nothing better can be done without throwing.
        }
    }

    std::unique_ptr<Communicator> shrink(std::span<const int> survivors,
                                         const std::string& key) override {
        const int new_rank = rank_among(survivors, rank_, size_);
        return make_group_(key, new_rank, static_cast<int>(survivors.size()));
    }

  private:
    static void copy(void* to, const void* from, std::size_t count) {
        if (count > 0) std::memcpy(to, from, count);
    }

    /// The first `count` bytes of a buffer that is kept, so that its pages are touched only once.
    static at::Tensor bytes(at::Tensor& buffer, std::size_t count) {
        const auto wanted = static_cast<std::int64_t>(count);
        if (!buffer.defined() || buffer.numel() < wanted) {
            buffer = at::empty({std::max<std::int64_t>(wanted, 4096)}, at::kByte);
        }
        return buffer.narrow(0, 0, wanted);
    }

    template <class Start>
    static Work start_alone(Start start) {
        std::lock_guard lock(starting);
        return start();
    }

    template <class Start>
    void run(const char* what, Start start) {
        last_ = std::make_shared<Completion>();
        try {
            Work work = start_alone(start);
            work->getFuture()->addCallback([state = state_,
                                            completion = last_](c10::ivalue::Future& future) {
                state->complete(*completion, future.hasError() ? future.exception_ptr() : nullptr);
            });
        } catch (const std::exception& error) {
            fail(what, error);
        }
        try {
            state_->wait(*last_, timeout_, what);
        } catch (const CommunicatorBroken&) {
            leave();
            throw;
        }
    }

    // These have no future; their wait can be interrupted.
    template <class Start>
    void run_point_to_point(const char* what, Start start) {
        Work work;
        try {
            work = start_alone(start);
            const BreakableWait::InterruptGuard guard(*state_, [&] { work->abort(); });
            if (work->wait(timeout_)) return;
        } catch (const CommunicatorBroken&) {
            throw;
        } catch (const std::exception& error) {
            fail(what, error);
        }
        work.reset();  // withdraws its buffer; the group is not busy any more
        leave();
        state_->throw_if_broken();
        throw CommunicatorBroken(std::string(what) + " was interrupted");
    }

    [[noreturn]] void fail(const char* what, const std::exception& error) {
        state_->break_for(std::string(what) + ": " + error.what());
        last_.reset();
        leave();
        state_->throw_if_broken();
        throw CommunicatorBroken(what);
    }

    /// Gives the group away to be closed, which tells the peers.
    void leave() {
        if (group_) Background::instance().close(std::move(group_), state_, last_);
    }

    Group group_;
    std::shared_ptr<BreakableWait> state_;
    int rank_, size_;
    std::chrono::milliseconds timeout_;
    MakeGroup make_group_;
    at::Tensor out_, in_;
    std::shared_ptr<Completion> last_;  ///< of the newest collective
};

}  // namespace

std::unique_ptr<Communicator> make_gloo_communicator(GlooMember member) {
    return std::make_unique<GlooCommunicator>(std::move(member));
}

}  // namespace assay::cluster
