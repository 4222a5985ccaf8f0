// Collectives behind one torch-free interface. Back ends: in-process (threads, for tests and
// oracles), Gloo (suite/cluster/gloo), later NCCL. Buffers are raw memory on the device of the back
// end; sizes are in elements.
//
// Failure contract: when a member dies, hangs or the group is aborted, every blocked or later call
// on *every* surviving member throws CommunicatorBroken within the configured time. A broken
// communicator is abandoned; the survivors build a new one (a new epoch). Nothing is retried
// inside.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay::cluster {

enum class Dtype : std::uint8_t { u8, i64, f32, f64, bf16 };
std::size_t size_of(Dtype);

class CommunicatorBroken : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What one rank sends another, the pieces one after the other. Host memory.
using Message = std::vector<std::span<const std::byte>>;

class Communicator {
  public:
    virtual ~Communicator() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;

    /// Rank i sends send_counts[j] elements to rank j, which lie in rank order in `send`; likewise
    /// for what it receives. Counts have size() entries; the sender's and receiver's must agree.
    virtual void all_to_all_v(const void* send, std::span<const std::int64_t> send_counts,
                              void* recv, std::span<const std::int64_t> recv_counts, Dtype) = 0;
    /// messages[i] goes to rank i, which does not know how long it is, nor whether it is empty.
    /// Returns what was sent to this one, by rank; it lies in the communicator's memory and stays
    /// until its next operation.
    virtual std::vector<std::span<const std::byte>> exchange_messages(
        std::span<const Message> messages) = 0;
    /// Every rank contributes `count` elements; `recv` holds size()*count in rank order.
    virtual void all_gather(const void* send, std::size_t count, void* recv, Dtype) = 0;
    /// Sum over ranks, in place. The order of additions is the back end's own and may depend on
    /// size(); for sums that must not, see grouped_all_reduce.hpp.
    virtual void all_reduce_sum(void* data, std::size_t count, Dtype) = 0;
    virtual void broadcast(void* data, std::size_t count, Dtype, int root) = 0;
    virtual void send(const void* data, std::size_t count, Dtype, int to) = 0;
    virtual void recv(void* data, std::size_t count, Dtype, int from) = 0;
    virtual void barrier() = 0;

    /// Makes every call on this member, blocked or later, throw CommunicatorBroken. Callable from
    /// any thread. (NCCL: ncclCommAbort.)
    virtual void abort(const std::string& why) noexcept = 0;

    /// Collective over the survivors only: a new group of `survivors` (old ranks, ascending), ranks
    /// renumbered in that order. Usable on a broken or aborted parent. (NCCL: ncclCommShrink with
    /// the abort flag.) `key` must be equal on all survivors and unique per shrink.
    virtual std::unique_ptr<Communicator> shrink(std::span<const int> survivors,
                                                 const std::string& key) = 0;
};

// Checks of arguments that every back end makes. All throw std::invalid_argument: a wrong argument
// is a mistake in the calling program and leaves the communicator usable.

/// Sum of `counts`, which must have `size` entries, none negative. `what` names them in the error.
std::int64_t checked_total(std::span<const std::int64_t> counts, int size, const char* what);

/// There must be a message for each of `size` ranks.
void check_messages(std::span<const Message> messages, int size);

/// `peer` must be a member other than `rank`.
void check_peer(int peer, int rank, int size, const char* operation);

void check_root(int root, int size);

/// New rank of old rank `rank`: its place in `survivors` (ascending old ranks of a group of
/// `size`).
int rank_among(std::span<const int> survivors, int rank, int size);

std::size_t size_of(const Message&);
/// Its pieces, one after the other, to `to`; returns where they end.
std::byte* copy_of(const Message&, std::byte* to);

}  // namespace assay::cluster
