// Ranks as threads: each ordered pair of ranks has a mailbox, every collective is made of messages.
//
// A member that aborts, fails or is destroyed is *gone*: what it sent before can still be received,
// whoever waits for more from it breaks and is gone in turn. So a failure spreads over the group as
// it does over sockets, only faster.
#include "suite/cluster/collectives/in_process.hpp"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "suite/cluster/collectives/communicator.hpp"
#include "suite/cluster/collectives/grouped_all_reduce.hpp"

namespace assay::cluster {
namespace {

using Bytes = std::vector<std::byte>;

struct Mail {
    const char* operation;  ///< name of the collective: ranks that call different ones are told so
    Bytes bytes;
};

/// What the members of one group share.
class Group {
  public:
    Group(int size, std::chrono::milliseconds timeout)
        : size_(size), timeout_(timeout), members_(size), mailboxes_(std::size_t(size) * size) {}

    int size() const { return size_; }

    void put(int from, int to, Mail message) {
        std::lock_guard lock(mutex_);
        throw_if_gone(from);
        if (members_[to].gone) {
            break_member(from,
                         "rank " + std::to_string(to) + " is gone (" + *members_[to].gone + ")");
        }
        mailbox(from, to).push_back(std::move(message));
        members_[to].changed.notify_all();
    }

    /// `bytes`: how many there must be; none: any number.
    Bytes take(int from, int to, const char* operation, std::optional<std::size_t> bytes) {
        std::unique_lock lock(mutex_);
        auto& box = mailbox(from, to);
        const bool woken = members_[to].changed.wait_for(lock, timeout_, [&] {
            return members_[to].gone || !box.empty() || members_[from].gone;
        });
        throw_if_gone(to);
        if (!woken) {
            break_member(to, std::string(operation) + ": nothing from rank " +
                                 std::to_string(from) + " within " +
                                 std::to_string(timeout_.count()) + " ms");
        }
        if (box.empty()) {
            break_member(to, std::string(operation) + ": rank " + std::to_string(from) +
                                 " is gone (" + *members_[from].gone + ")");
        }
        Mail message = std::move(box.front());
        box.pop_front();
        if (std::strcmp(message.operation, operation) != 0 ||
            message.bytes.size() != bytes.value_or(message.bytes.size())) {
            const std::string what =
                "rank " + std::to_string(from) + " called " + message.operation + " with " +
                std::to_string(message.bytes.size()) + " bytes where rank " + std::to_string(to) +
                " calls " + operation +
                (bytes ? " and expects " + std::to_string(*bytes) : std::string());
            mark_gone(to, what);
            throw std::logic_error(what);
        }
        return std::move(message.bytes);
    }

    void leave(int rank, const std::string& why) {
        std::lock_guard lock(mutex_);
        mark_gone(rank, why);
    }

    /// The group that the survivors of one shrink share; the first to ask makes it.
    std::shared_ptr<Group> child(const std::string& key, int size) {
        std::lock_guard lock(mutex_);
        auto& child = children_[key];
        if (!child) child = std::make_shared<Group>(size, timeout_);
        if (child->size() != size) {
            throw std::invalid_argument("shrink: key \"" + key + "\" was used for a group of " +
                                        std::to_string(child->size()) + ", not " +
                                        std::to_string(size));
        }
        return child;
    }

  private:
    struct Member {
        std::optional<std::string> gone;  ///< why
        std::condition_variable changed;
    };

    std::deque<Mail>& mailbox(int from, int to) {
        return mailboxes_[std::size_t(from) * size_ + to];
    }
    void throw_if_gone(int rank) const {
        if (members_[rank].gone) throw CommunicatorBroken(*members_[rank].gone);
    }
    void mark_gone(int rank, const std::string& why) {
        if (members_[rank].gone) return;
        members_[rank].gone = why;
        for (auto& member : members_) member.changed.notify_all();
    }
    [[noreturn]] void break_member(int rank, const std::string& why) {
        mark_gone(rank, why);
        throw CommunicatorBroken(why);
    }

    const int size_;
    const std::chrono::milliseconds timeout_;
    std::mutex mutex_;
    std::vector<Member> members_;
    std::vector<std::deque<Mail>> mailboxes_;  ///< [from * size + to]
    std::map<std::string, std::shared_ptr<Group>> children_;
};

class InProcessCommunicator final : public Communicator {
  public:
    InProcessCommunicator(std::shared_ptr<Group> group, int rank)
        : group_(std::move(group)), rank_(rank) {}
    ~InProcessCommunicator() override { group_->leave(rank_, "its communicator was destroyed"); }

    int rank() const override { return rank_; }
    int size() const override { return group_->size(); }

    void all_to_all_v(const void* send, std::span<const std::int64_t> send_counts, void* recv,
                      std::span<const std::int64_t> recv_counts, Dtype dtype) override {
        checked_total(send_counts, size(), "send_counts");
        checked_total(recv_counts, size(), "recv_counts");
        const auto* from = static_cast<const std::byte*>(send);
        for (int to = 0; to < size(); ++to) {
            const std::size_t bytes = send_counts[to] * size_of(dtype);
            put(to, "all_to_all_v", from, bytes);
            from += bytes;
        }
        auto* into = static_cast<std::byte*>(recv);
        for (int source = 0; source < size(); ++source) {
            const std::size_t bytes = recv_counts[source] * size_of(dtype);
            take(source, "all_to_all_v", into, bytes);
            into += bytes;
        }
    }

    std::vector<std::span<const std::byte>> exchange_messages(
        std::span<const Message> messages) override {
        check_messages(messages, size());
        for (int to = 0; to < size(); ++to) {
            Bytes bytes(size_of(messages[to]));
            copy_of(messages[to], bytes.data());
            group_->put(rank_, to, {"exchange_messages", std::move(bytes)});
        }
        received_.clear();
        for (int from = 0; from < size(); ++from)
            received_.push_back(group_->take(from, rank_, "exchange_messages", std::nullopt));
        return {received_.begin(), received_.end()};
    }

    void all_gather(const void* send, std::size_t count, void* recv, Dtype dtype) override {
        gather("all_gather", send, count * size_of(dtype), recv);
    }

    void all_reduce_sum(void* data, std::size_t count, Dtype dtype) override {
        const std::size_t bytes = count * size_of(dtype);
        Bytes all(bytes * size());
        gather("all_reduce_sum", data, bytes, all.data());
        std::vector<const void*> parts;
        for (int rank = 0; rank < size(); ++rank) parts.push_back(all.data() + rank * bytes);
        ordered_sum(parts, count, dtype, data);
    }

    void broadcast(void* data, std::size_t count, Dtype dtype, int root) override {
        check_root(root, size());
        const std::size_t bytes = count * size_of(dtype);
        if (rank_ != root) return take(root, "broadcast", data, bytes);
        for (int to = 0; to < size(); ++to) {
            if (to != root) put(to, "broadcast", data, bytes);
        }
    }

    void send(const void* data, std::size_t count, Dtype dtype, int to) override {
        check_peer(to, rank_, size(), "send");
        put(to, "send", data, count * size_of(dtype));
    }

    void recv(void* data, std::size_t count, Dtype dtype, int from) override {
        check_peer(from, rank_, size(), "recv");
        take(from, "send", data, count * size_of(dtype));
    }

    void barrier() override { gather("barrier", nullptr, 0, nullptr); }

    void abort(const std::string& why) noexcept override {
        group_->leave(rank_, "aborted: " + why);
    }

    std::unique_ptr<Communicator> shrink(std::span<const int> survivors,
                                         const std::string& key) override {
        const int new_rank = rank_among(survivors, rank_, size());
        return std::make_unique<InProcessCommunicator>(
            group_->child(key, static_cast<int>(survivors.size())), new_rank);
    }

  private:
    void put(int to, const char* operation, const void* data, std::size_t bytes) {
        const auto* begin = static_cast<const std::byte*>(data);
        group_->put(rank_, to, Mail{operation, Bytes(begin, begin + bytes)});
    }
    void take(int from, const char* operation, void* data, std::size_t bytes) {
        const Bytes received = group_->take(from, rank_, operation, bytes);
        if (bytes > 0) std::memcpy(data, received.data(), bytes);
    }
    void gather(const char* operation, const void* send, std::size_t bytes, void* recv) {
        for (int to = 0; to < size(); ++to) put(to, operation, send, bytes);
        auto* into = static_cast<std::byte*>(recv);
        for (int from = 0; from < size(); ++from) take(from, operation, into + from * bytes, bytes);
    }

    std::shared_ptr<Group> group_;
    int rank_;
    std::vector<Bytes> received_;  ///< messages of the newest exchange
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> make_in_process_group(
    int size, std::chrono::milliseconds timeout) {
    if (size < 1) throw std::invalid_argument("a group needs at least one rank");
    auto group = std::make_shared<Group>(size, timeout);
    std::vector<std::unique_ptr<Communicator>> members;
    for (int rank = 0; rank < size; ++rank) {
        members.push_back(std::make_unique<InProcessCommunicator>(group, rank));
    }
    return members;
}

}  // namespace assay::cluster
