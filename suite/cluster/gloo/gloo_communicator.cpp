#include "suite/cluster/gloo/gloo_communicator.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "suite/cluster/collectives/scalar_type.hpp"

namespace assay::cluster {
namespace {

using Work = c10::intrusive_ptr<c10d::Work>;

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

    // One message to each peer, its length first. The receiver waits for as much as it has room for
    // (Gloo delivers a shorter message as it is); both ends know how much that is: the longest that
    // came this way so far. What is longer follows in a second message.
    std::vector<std::span<const std::byte>> exchange_messages(
        std::span<const Message> messages) override {
        check_messages(messages, size_);
        state_->throw_if_broken();
        room_to_.resize(size_, first_room);
        arrived_.resize(size_);
        std::int64_t total = 0;
        for (const Message& message : messages) total += framed(size_of(message));
        at::Tensor out = bytes(out_, total);
        std::vector<at::Tensor> frames;
        std::int64_t begin = 0;
        for (const Message& message : messages) {
            const auto length = static_cast<std::int64_t>(size_of(message));
            frames.push_back(out.narrow(0, begin, framed(length)));
            auto* const frame = static_cast<std::byte*>(frames.back().data_ptr());
            std::memcpy(frame, &length, sizeof length);
            copy_of(message, frame + sizeof length);
            begin += framed(length);
        }
        const auto of_peers = [&](auto&& each) {
            for (int peer = 0; peer < size_; ++peer)
                if (peer != rank_) each(peer);
        };
        const char* const what = "exchange_messages";
        run_point_to_point(what, [&](Works& works) {
            of_peers([&](int from) {
                if (!arrived_[from].defined()) arrived_[from] = at::empty({first_room}, at::kByte);
                works.receive(arrived_[from], from);
            });
            of_peers([&](int to) {
                works.send(frames[to].narrow(0, 0, std::min(frames[to].numel(), room_to_[to])), to);
            });
        });
        run_point_to_point(what, [&](Works& works) {
            of_peers([&](int from) {
                at::Tensor& room = arrived_[from];
                const auto first = room.numel(), length = framed(length_of(room));
                if (length <= first) return;
                auto larger = at::empty({room_for(length)}, at::kByte);
                copy(larger.data_ptr(), room.data_ptr(), first);
                room = std::move(larger);
                works.receive(room.narrow(0, first, length - first), from);
            });
            of_peers([&](int to) {
                const auto length = frames[to].numel(), first = room_to_[to];
                if (length <= first) return;
                works.send(frames[to].narrow(0, first, length - first), to);
                room_to_[to] = room_for(length);
            });
        });
        std::vector<std::span<const std::byte>> arrived;
        for (int from = 0; from < size_; ++from) {
            const at::Tensor& frame = from == rank_ ? frames[from] : arrived_[from];
            const auto* const begins = static_cast<const std::byte*>(frame.const_data_ptr());
            arrived.emplace_back(begins + sizeof(std::int64_t), length_of(frame));
        }
        return arrived;
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
        const at::Tensor out = bytes(out_, count * size_of(dtype));
        copy(out.data_ptr(), data, count * size_of(dtype));
        run_point_to_point("send", [&](Works& works) { works.send(out, to); });
    }

    void recv(void* data, std::size_t count, Dtype dtype, int from) override {
        check_peer(from, rank_, size_, "recv");
        state_->throw_if_broken();
        if (count == 0) return;
        const at::Tensor in = bytes(in_, count * size_of(dtype));
        run_point_to_point("recv", [&](Works& works) { works.receive(in, from); });
        copy(data, in.data_ptr(), count * size_of(dtype));
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
    // ---- messages with their length in front
    static constexpr std::int64_t first_room = 1 << 16;  ///< bytes
    static std::int64_t framed(std::int64_t length) {
        return static_cast<std::int64_t>(sizeof length) + length;
    }
    static std::int64_t room_for(std::int64_t frame) {
        return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(frame)));
    }
    static std::int64_t length_of(const at::Tensor& frame) {
        std::int64_t length = 0;
        std::memcpy(&length, frame.const_data_ptr(), sizeof length);
        return length;
    }

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

    /// Messages between two under way.
    class Works {
      public:
        explicit Works(Group& group) : group_(group) {}
        void send(const at::Tensor& bytes, int to) {
            std::vector<at::Tensor> tensors{bytes};
            all_.push_back(start_alone([&] { return group_->send(tensors, to, 0); }));
        }
        void receive(const at::Tensor& bytes, int from) {
            std::vector<at::Tensor> tensors{bytes};
            all_.push_back(start_alone([&] { return group_->recv(tensors, from, 0); }));
        }
        /// Whether nothing interrupted it.
        bool wait(std::chrono::milliseconds timeout) const {
            return std::all_of(all_.begin(), all_.end(),
                               [&](const Work& work) { return work->wait(timeout); });
        }
        void interrupt() const {
            for (const Work& work : all_) work->abort();
        }

      private:
        Group& group_;
        std::vector<Work> all_;
    };

    // These have no future; their wait can be interrupted.
    template <class Start>
    void run_point_to_point(const char* what, Start start) {
        try {
            Works works(group_);  // going, it withdraws their buffers
            start(works);
            const BreakableWait::InterruptGuard guard(*state_, [&] { works.interrupt(); });
            if (works.wait(timeout_)) return;
        } catch (const CommunicatorBroken&) {
            throw;
        } catch (const std::exception& error) {
            fail(what, error);
        }
        leave();  // the group is not busy any more
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
    // Of exchange_messages(), by rank: what came, and how much room the receiver has.
    std::vector<at::Tensor> arrived_;
    std::vector<std::int64_t> room_to_;
    std::shared_ptr<Completion> last_;  ///< of the newest collective
};

}  // namespace

std::unique_ptr<Communicator> make_gloo_communicator(GlooMember member) {
    return std::make_unique<GlooCommunicator>(std::move(member));
}

}  // namespace assay::cluster
