// What all back ends share: sizes of elements and the checks of arguments.
#include "suite/cluster/collectives/communicator.hpp"

#include <cstring>

namespace assay::cluster {

std::size_t size_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::u8:
            return 1;
        case Dtype::bf16:
            return 2;
        case Dtype::f32:
            return 4;
        case Dtype::i64:
        case Dtype::f64:
            return 8;
    }
    throw std::invalid_argument("unknown dtype");
}

std::int64_t checked_total(std::span<const std::int64_t> counts, int size, const char* what) {
    if (counts.size() != static_cast<std::size_t>(size)) {
        throw std::invalid_argument(std::string("all_to_all_v: ") + what + " has " +
                                    std::to_string(counts.size()) + " entries, the group has " +
                                    std::to_string(size) + " ranks");
    }
    std::int64_t total = 0;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        if (counts[rank] < 0) {
            throw std::invalid_argument(std::string("all_to_all_v: ") + what + "[" +
                                        std::to_string(rank) + "] is negative");
        }
        total += counts[rank];
    }
    return total;
}

void check_messages(std::span<const Message> messages, int size) {
    if (messages.size() == static_cast<std::size_t>(size)) return;
    throw std::invalid_argument("exchange_messages: " + std::to_string(messages.size()) +
                                " messages in a group of " + std::to_string(size) + " ranks");
}

std::size_t size_of(const Message& message) {
    std::size_t bytes = 0;
    for (const auto& piece : message) bytes += piece.size();
    return bytes;
}

std::byte* copy_of(const Message& message, std::byte* to) {
    for (const auto& piece : message) {
        if (!piece.empty()) std::memcpy(to, piece.data(), piece.size());
        to += piece.size();
    }
    return to;
}

void check_peer(int peer, int rank, int size, const char* operation) {
    if (peer < 0 || peer >= size || peer == rank) {
        throw std::invalid_argument(std::string(operation) + ": rank " + std::to_string(peer) +
                                    " is no other member of a group of " + std::to_string(size));
    }
}

void check_root(int root, int size) {
    if (root < 0 || root >= size) {
        throw std::invalid_argument("broadcast: root " + std::to_string(root) +
                                    " is no member of a group of " + std::to_string(size));
    }
}

int rank_among(std::span<const int> survivors, int rank, int size) {
    int found = -1;
    for (std::size_t i = 0; i < survivors.size(); ++i) {
        if (survivors[i] < 0 || survivors[i] >= size ||
            (i > 0 && survivors[i] <= survivors[i - 1])) {
            throw std::invalid_argument("shrink: survivors must be ascending ranks of the group");
        }
        if (survivors[i] == rank) found = static_cast<int>(i);
    }
    if (found < 0) {
        throw std::invalid_argument("shrink: rank " + std::to_string(rank) +
                                    " is not among the survivors it names");
    }
    return found;
}

}  // namespace assay::cluster
