#include "suite/cluster/nccl/nccl_communicator.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "suite/cluster/nccl/packing.hpp"

namespace assay::cluster {
namespace {

int type_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::u8:
            return nccl::type_u8;
        case Dtype::i64:
            return nccl::type_i64;
        case Dtype::f32:
            return nccl::type_f32;
        case Dtype::f64:
            return nccl::type_f64;
        case Dtype::bf16:
            return nccl::type_bf16;
    }
    throw std::invalid_argument("unknown dtype");
}

class NcclCommunicator final : public DeviceCommunicator {
  public:
    NcclCommunicator(std::shared_ptr<NcclHandle> handle, int rank, int size,
                     MakeSmaller make_smaller)
        : handle_(std::move(handle)),
          library_(handle_->library()),
          rank_(rank),
          size_(size),
          make_smaller_(std::move(make_smaller)) {
        handle_->at_least(64);  // barrier()'s; while an operation hangs, memory cannot be had
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void* stream() const override { return handle_->stream(); }
    void set_deferred(bool deferred) override { deferred_ = deferred; }
    void wait() override { handle_->wait("wait"); }

    void all_to_all_v(const void* send, std::span<const std::int64_t> send_counts, void* recv,
                      std::span<const std::int64_t> recv_counts, Dtype dtype) override {
        const auto sent = checked_total(send_counts, size_, "send_counts");
        const auto received = checked_total(recv_counts, size_, "recv_counts");
        if (send_counts[at(rank_)] != recv_counts[at(rank_)])
            throw std::invalid_argument("all_to_all_v: one rank sends itself what it receives");
        if (sent == 0 && received == 0) return check();
        const std::size_t element = size_of(dtype);
        const int type = type_of(dtype);
        run("all_to_all_v", [&](nccl::Comm comm) {
            return grouped([&] {
                const auto* from = static_cast<const std::byte*>(send);
                auto* into = static_cast<std::byte*>(recv);
                int result = nccl::success;
                for (int peer = 0; peer < size_ && result == nccl::success; ++peer) {
                    const auto out = static_cast<std::size_t>(send_counts[at(peer)]);
                    const auto in = static_cast<std::size_t>(recv_counts[at(peer)]);
                    if (out > 0) result = library_.send(from, out, type, peer, comm, stream());
                    if (in > 0 && result == nccl::success)
                        result = library_.recv(into, in, type, peer, comm, stream());
                    from += out * element;
                    into += in * element;
                }
                return result;
            });
        });
    }

    /// Messages lie in the host's memory: they go through a buffer on the device, their lengths
    /// first.
    std::vector<std::span<const std::byte>> exchange_messages(
        std::span<const Message> messages) override {
        check_messages(messages, size_);
        std::vector<std::int64_t> lengths, arriving(messages.size());
        for (const Message& message : messages)
            lengths.push_back(static_cast<std::int64_t>(size_of(message)));
        const std::vector<std::int64_t> one_each(messages.size(), 1);
        through_device(lengths.data(), one_each, arriving.data(), one_each, Dtype::i64);
        std::vector<std::byte> leaving(total_of(lengths));
        received_.resize(total_of(arriving));
        std::byte* into = leaving.data();
        for (const Message& message : messages) into = copy_of(message, into);
        through_device(leaving.data(), lengths, received_.data(), arriving, Dtype::u8);
        std::vector<std::span<const std::byte>> arrived;
        const std::byte* from = received_.data();
        for (const std::int64_t length : arriving) {
            arrived.emplace_back(from, static_cast<std::size_t>(length));
            from += length;
        }
        return arrived;
    }

    void all_gather(const void* send, std::size_t count, void* recv, Dtype dtype) override {
        if (count == 0) return check();
        run("all_gather", [&](nccl::Comm comm) {
            return library_.all_gather(send, recv, count, type_of(dtype), comm, stream());
        });
    }

    void all_reduce_sum(void* data, std::size_t count, Dtype dtype) override {
        if (count == 0) return check();
        run("all_reduce_sum", [&](nccl::Comm comm) {
            return library_.all_reduce(data, data, count, type_of(dtype), nccl::sum, comm,
                                       stream());
        });
    }

    void all_reduce_sum_each(std::span<const DeviceBuffer> buffers, Dtype dtype) override {
        const std::size_t element = size_of(dtype);
        std::vector<std::size_t> bytes;
        for (const DeviceBuffer& buffer : buffers) bytes.push_back(buffer.count * element);
        const nccl::Packing packing = nccl::plan_packing(bytes);
        if (packing.pieces.empty() && packing.alone.empty()) return check();
        auto* const packed = static_cast<std::byte*>(handle_->at_least(packing.bytes));
        for (const nccl::Piece& piece : packing.pieces)
            handle_->copy(packed + piece.offset_bytes, buffers[piece.buffer].data,
                          bytes[piece.buffer]);
        const int type = type_of(dtype);
        handle_->run("all_reduce_sum_each", [&](nccl::Comm comm) {
            return grouped([&] {
                int result = nccl::success;
                if (packing.bytes > 0)
                    result = library_.all_reduce(packed, packed, packing.bytes / element, type,
                                                 nccl::sum, comm, stream());
                for (const std::size_t alone : packing.alone) {
                    if (result != nccl::success) break;
                    result =
                        library_.all_reduce(buffers[alone].data, buffers[alone].data,
                                            buffers[alone].count, type, nccl::sum, comm, stream());
                }
                return result;
            });
        });
        for (const nccl::Piece& piece : packing.pieces)
            handle_->copy(buffers[piece.buffer].data, packed + piece.offset_bytes,
                          bytes[piece.buffer]);
        if (!deferred_) handle_->wait("all_reduce_sum_each");
    }

    void broadcast(void* data, std::size_t count, Dtype dtype, int root) override {
        check_root(root, size_);
        if (count == 0) return check();
        run("broadcast", [&](nccl::Comm comm) {
            return library_.broadcast(data, data, count, type_of(dtype), root, comm, stream());
        });
    }

    void send(const void* data, std::size_t count, Dtype dtype, int to) override {
        check_peer(to, rank_, size_, "send");
        if (count == 0) return check();
        run("send", [&](nccl::Comm comm) {
            return library_.send(data, count, type_of(dtype), to, comm, stream());
        });
    }

    void recv(void* data, std::size_t count, Dtype dtype, int from) override {
        check_peer(from, rank_, size_, "recv");
        if (count == 0) return check();
        run("recv", [&](nccl::Comm comm) {
            return library_.recv(data, count, type_of(dtype), from, comm, stream());
        });
    }

    void barrier() override {
        void* const one = handle_->at_least(sizeof(float));
        handle_->run("barrier", [&](nccl::Comm comm) {
            return library_.all_reduce(one, one, 1, nccl::type_f32, nccl::sum, comm, stream());
        });
        handle_->wait("barrier");
    }

    void abort(const std::string& why) noexcept override {
        try {
            handle_->abort("aborted: " + why);
        } catch (const std::exception&) {
            handle_->abort("");  // no memory for the text
        }
    }

    std::unique_ptr<Communicator> shrink(std::span<const int> survivors,
                                         const std::string& key) override {
        Shrinking shrinking{
            key, rank_among(survivors, rank_, size_), static_cast<int>(survivors.size()), {}};
        for (int rank = 0; rank < size_; ++rank)
            if (!std::binary_search(survivors.begin(), survivors.end(), rank))
                shrinking.excluded.push_back(rank);
        return make_smaller_(*handle_, shrinking);
    }

  private:
    static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

    static std::size_t total_of(std::span<const std::int64_t> counts) {
        return static_cast<std::size_t>(
            std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
    }

    /// all_to_all_v() of host memory. Copies of it can themselves wait for the stream, which no
    /// timeout ends: they begin when nothing is on it, also where calls are deferred.
    void through_device(const void* send, std::span<const std::int64_t> send_counts, void* recv,
                        std::span<const std::int64_t> recv_counts, Dtype dtype) {
        const std::size_t out = total_of(send_counts) * size_of(dtype);
        const std::size_t in = total_of(recv_counts) * size_of(dtype);
        auto* const device = static_cast<std::byte*>(handle_->at_least(out + in));
        handle_->wait("exchange_messages");
        if (out > 0) handle_->copy(device, send, out);
        all_to_all_v(device, send_counts, device + out, recv_counts, dtype);
        handle_->wait("exchange_messages");
        if (in > 0) handle_->copy(recv, device + out, in);
        handle_->wait("exchange_messages");
    }

    /// An operation of nothing does not reach NCCL, but breaks as any other.
    void check() { handle_->check(); }

    void run(const char* what, const std::function<int(nccl::Comm)>& start) {
        handle_->run(what, start);
        if (!deferred_) handle_->wait(what);
    }

    /// What `body` calls is started together, by group_end().
    template <class Body>
    int grouped(const Body& body) {
        if (const int result = library_.group_start(); result != nccl::success) return result;
        const int result = body();
        const int end = library_.group_end();
        return result == nccl::success ? end : result;
    }

    const std::shared_ptr<NcclHandle> handle_;
    const nccl::Library& library_;
    const int rank_, size_;
    const MakeSmaller make_smaller_;
    std::vector<std::byte> received_;  // what exchange_messages() gave last
    bool deferred_ = false;
};

}  // namespace

std::unique_ptr<DeviceCommunicator> make_nccl_communicator(std::shared_ptr<NcclHandle> handle,
                                                           int rank, int size,
                                                           MakeSmaller make_smaller) {
    return std::make_unique<NcclCommunicator>(std::move(handle), rank, size,
                                              std::move(make_smaller));
}

}  // namespace assay::cluster
