#include "suite/cluster/collectives/checksum_layer.hpp"

#include <cstring>
#include <string>

namespace assay::cluster {
namespace {

// Odd, so that multiplication by it is a bijection modulo 2^64: the fractional part of the golden
// ratio, times 2^64.
constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;

// Chains that do not wait for each other: one multiplication takes several cycles, but several can
// be under way.
constexpr std::size_t kLanes = 8;
constexpr std::size_t kBlockBytes = kLanes * sizeof(std::uint64_t);

std::uint64_t word_at(const std::byte* bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

/// Bijective in `state` and in `word`. The shift brings high bits down, which a product alone never
/// does.
std::uint64_t absorb(std::uint64_t state, std::uint64_t word) {
    state = (state ^ word) * kMultiplier;
    return state ^ (state >> 29);
}

}  // namespace

std::uint64_t message_checksum(const void* data, std::size_t bytes,
                               const MessageIdentity& identity) {
    const auto* at = static_cast<const std::byte*>(data);
    std::uint64_t state = absorb(identity.group, bytes);
    state =
        absorb(state, static_cast<std::uint64_t>(static_cast<std::uint32_t>(identity.from)) << 32 |
                          static_cast<std::uint32_t>(identity.to));
    state = absorb(state, identity.sequence);

    std::size_t left = bytes;
    if (left >= kBlockBytes) {
        std::uint64_t lanes[kLanes];
        for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = lane;
        for (; left >= kBlockBytes; left -= kBlockBytes, at += kBlockBytes) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                lanes[lane] = absorb(lanes[lane], word_at(at + lane * sizeof(std::uint64_t)));
            }
        }
        for (const std::uint64_t lane : lanes) state = absorb(state, lane);
    }
    for (; left >= sizeof(std::uint64_t); left -= sizeof(std::uint64_t)) {
        state = absorb(state, word_at(at));
        at += sizeof(std::uint64_t);
    }
    if (left > 0) {  // its length is in the state already, so zeros may fill it up
        std::uint64_t word = 0;
        std::memcpy(&word, at, left);
        state = absorb(state, word);
    }
    return absorb(state, 0);
}

namespace {

constexpr int kEverybody = -1;
constexpr std::uint64_t kBetweenTwo = std::uint64_t{1} << 63;  ///< sequences of send and recv

static_assert(kChecksumBytes == sizeof(std::uint64_t));

void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memmove(to, from, bytes);
}

/// The first `bytes` of a buffer that is kept, so that its pages are touched only once.
std::byte* room(std::vector<std::byte>& buffer, std::size_t bytes) {
    if (buffer.size() < bytes) buffer.resize(bytes);
    return buffer.data();
}

/// Behind the `bytes` of it that are there.
void add_checksum(std::byte* message, std::size_t bytes, const MessageIdentity& identity) {
    const std::uint64_t checksum = message_checksum(message, bytes, identity);
    std::memcpy(message + bytes, &checksum, sizeof checksum);
}

void seal(std::byte* message, const void* payload, std::size_t bytes,
          const MessageIdentity& identity) {
    copy(message, payload, bytes);
    add_checksum(message, bytes, identity);
}

class ChecksumLayer final : public Communicator {
  public:
    ChecksumLayer(std::unique_ptr<Communicator> inner, std::vector<WorkerId> names,
                  std::uint64_t group)
        : inner_(std::move(inner)),
          names_(std::move(names)),
          group_(group),
          rank_(inner_->rank()),
          size_(inner_->size()),
          sent_(size_),
          received_(size_) {}

    int rank() const override { return rank_; }
    int size() const override { return size_; }

    void all_to_all_v(const void* send, std::span<const std::int64_t> send_counts, void* recv,
                      std::span<const std::int64_t> recv_counts, Dtype dtype) override {
        const auto element = static_cast<std::int64_t>(size_of(dtype));
        const auto added = static_cast<std::int64_t>((size_ - 1) * kChecksumBytes);
        const auto out_bytes = checked_total(send_counts, size_, "send_counts") * element + added;
        const auto in_bytes = checked_total(recv_counts, size_, "recv_counts") * element + added;
        if (send_counts[rank_] != recv_counts[rank_]) {
            throw std::invalid_argument("all_to_all_v: rank " + std::to_string(rank_) + " sends " +
                                        std::to_string(send_counts[rank_]) +
                                        " elements to itself and expects " +
                                        std::to_string(recv_counts[rank_]));
        }
        const std::uint64_t sequence = ++collectives_;
        std::byte* const out = room(out_, out_bytes);
        std::byte* const in = room(in_, in_bytes);
        out_counts_.assign(size_, 0);
        in_counts_.assign(size_, 0);

        const auto* from = static_cast<const std::byte*>(send);
        const std::byte* own = nullptr;
        std::byte* message = out;
        for (int to = 0; to < size_; ++to) {
            const std::int64_t bytes = send_counts[to] * element;
            if (to == rank_) {
                own = from;
            } else {
                seal(message, from, bytes, {group_, rank_, to, sequence});
                out_counts_[to] = bytes + std::int64_t{kChecksumBytes};
                in_counts_[to] = recv_counts[to] * element + std::int64_t{kChecksumBytes};
                message += out_counts_[to];
            }
            if (bytes > 0) from += bytes;
        }
        inner_->all_to_all_v(out, out_counts_, in, in_counts_, Dtype::u8);

        const std::byte* arrived = in;
        for (int source = 0; source < size_; ++source) {
            if (source == rank_) continue;
            verify(arrived, recv_counts[source] * element, {group_, source, rank_, sequence});
            arrived += in_counts_[source];
        }
        arrived = in;
        auto* into = static_cast<std::byte*>(recv);
        for (int source = 0; source < size_; ++source) {
            const std::int64_t bytes = recv_counts[source] * element;
            copy(into, source == rank_ ? own : arrived, bytes);
            arrived += in_counts_[source];
            if (bytes > 0) into += bytes;
        }
    }

    std::vector<std::span<const std::byte>> exchange_messages(
        std::span<const Message> messages) override {
        check_messages(messages, size_);
        const std::uint64_t sequence = ++collectives_;
        std::size_t total = 0;
        for (const Message& message : messages) total += size_of(message) + kChecksumBytes;
        std::byte* at = room(out_, total);
        std::vector<Message> sealed(size_);
        std::span<const std::byte> own;  // stays here
        for (int to = 0; to < size_; ++to) {
            const std::size_t bytes = size_of(messages[to]);
            copy_of(messages[to], at);
            if (to == rank_) {
                own = {at, bytes};
            } else {
                add_checksum(at, bytes, {group_, rank_, to, sequence});
                sealed[to] = {{at, bytes + kChecksumBytes}};
            }
            at += bytes + kChecksumBytes;
        }
        auto arrived = inner_->exchange_messages(sealed);
        for (int source = 0; source < size_; ++source) {
            if (source == rank_) {
                arrived[source] = own;
                continue;
            }
            auto& message = arrived[source];
            if (message.size() < kChecksumBytes) reject(source, message.size());
            const std::size_t bytes = message.size() - kChecksumBytes;
            verify(message.data(), bytes, {group_, source, rank_, sequence});
            message = message.first(bytes);
        }
        return arrived;
    }

    void all_gather(const void* send, std::size_t count, void* recv, Dtype dtype) override {
        const std::size_t bytes = count * size_of(dtype), each = bytes + kChecksumBytes;
        const std::uint64_t sequence = ++collectives_;
        std::byte* const out = room(out_, each);
        std::byte* const in = room(in_, each * size_);
        seal(out, send, bytes, {group_, rank_, kEverybody, sequence});
        inner_->all_gather(out, each, in, Dtype::u8);
        for (int source = 0; source < size_; ++source) {
            if (source == rank_) continue;
            verify(in + source * each, bytes, {group_, source, kEverybody, sequence});
        }
        auto* into = static_cast<std::byte*>(recv);
        for (int source = 0; source < size_; ++source) {
            const void* part = source == rank_ ? send : in + source * each;
            if (bytes > 0) copy(into + source * bytes, part, bytes);
        }
    }

    void all_reduce_sum(void* data, std::size_t count, Dtype dtype) override {
        inner_->all_reduce_sum(data, count, dtype);
    }

    void broadcast(void* data, std::size_t count, Dtype dtype, int root) override {
        check_root(root, size_);
        const std::size_t bytes = count * size_of(dtype);
        const MessageIdentity identity{group_, root, kEverybody, ++collectives_};
        std::byte* const message = room(out_, bytes + kChecksumBytes);
        if (rank_ == root) seal(message, data, bytes, identity);
        inner_->broadcast(message, bytes + kChecksumBytes, Dtype::u8, root);
        if (rank_ == root) return;
        verify(message, bytes, identity);
        copy(data, message, bytes);
    }

    void send(const void* data, std::size_t count, Dtype dtype, int to) override {
        check_peer(to, rank_, size_, "send");
        const std::size_t bytes = count * size_of(dtype);
        std::byte* const message = room(out_, bytes + kChecksumBytes);
        seal(message, data, bytes, {group_, rank_, to, kBetweenTwo | ++sent_[to]});
        inner_->send(message, bytes + kChecksumBytes, Dtype::u8, to);
    }

    void recv(void* data, std::size_t count, Dtype dtype, int from) override {
        check_peer(from, rank_, size_, "recv");
        const std::size_t bytes = count * size_of(dtype);
        std::byte* const message = room(in_, bytes + kChecksumBytes);
        inner_->recv(message, bytes + kChecksumBytes, Dtype::u8, from);
        verify(message, bytes, {group_, from, rank_, kBetweenTwo | ++received_[from]});
        copy(data, message, bytes);
    }

    void barrier() override { inner_->barrier(); }

    void abort(const std::string& why) noexcept override { inner_->abort(why); }

    std::unique_ptr<Communicator> shrink(std::span<const int> survivors,
                                         const std::string& key) override {
        auto child = inner_->shrink(survivors, key);
        std::vector<WorkerId> names;
        for (int survivor : survivors) names.push_back(names_[survivor]);
        // A message of the old group that arrives in the new one must not look right there.
        const std::uint64_t group = message_checksum(key.data(), key.size(), {.group = group_});
        return std::make_unique<ChecksumLayer>(std::move(child), std::move(names), group);
    }

  private:
    void verify(const std::byte* message, std::size_t bytes, const MessageIdentity& identity) {
        std::uint64_t told = 0;
        std::memcpy(&told, message + bytes, sizeof told);
        if (told != message_checksum(message, bytes, identity)) reject(identity.from, bytes);
    }
    [[noreturn]] void reject(int source, std::size_t bytes) {
        const WorkerId from = names_[source];
        const std::string why = "a message of " + std::to_string(bytes) + " bytes from worker " +
                                std::to_string(from) + " to worker " +
                                std::to_string(names_[rank_]) + " arrived with a wrong checksum";
        inner_->abort(why);  // the others must not go on with a member that has nothing
        throw CorruptMessage(from, why);
    }

    std::unique_ptr<Communicator> inner_;
    const std::vector<WorkerId> names_;
    const std::uint64_t group_;
    const int rank_, size_;
    std::uint64_t collectives_ = 0;
    std::vector<std::uint64_t> sent_, received_;  ///< messages to and from each rank
    std::vector<std::byte> out_, in_;
    std::vector<std::int64_t> out_counts_, in_counts_;
};

}  // namespace

std::unique_ptr<Communicator> make_checksum_layer(std::unique_ptr<Communicator> inner,
                                                  std::vector<WorkerId> names) {
    const std::uint64_t group = message_checksum(names.data(), names.size() * sizeof(WorkerId), {});
    return std::make_unique<ChecksumLayer>(std::move(inner), std::move(names), group);
}

}  // namespace assay::cluster
