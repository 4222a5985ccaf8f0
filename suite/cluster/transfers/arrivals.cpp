#include "suite/cluster/transfers/arrivals.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "suite/cluster/transfers/connection.hpp"

namespace assay::cluster {
namespace {

/// Whoever opens more of them without a word is refused; transfers of one worker are dozens.
constexpr std::size_t kMostArrivals = 512;
constexpr std::chrono::milliseconds kPauseWithoutDescriptors{50};

}  // namespace

Arrivals::Arrivals(FileDescriptor listening, Seconds patience)
    : listening_(std::move(listening)), patience_(clock_units(patience)) {}

std::uint16_t Arrivals::port() const { return port_of(listening_); }

void Arrivals::wait(int wake, Clock::time_point until) {
    const bool accepts = accepts_from_ <= Clock::now();
    if (!accepts) until = std::min(until, accepts_from_);
    watched_ = {{wake, POLLIN, 0}, {accepts ? listening_.get() : -1, POLLIN, 0}};
    for (const Arrival& arrival : arrivals_) {
        until = std::min(until, arrival.deadline);
        // One that has said all is only waited for, until it is taken or its time is over.
        watched_.push_back({arrival.header ? -1 : arrival.socket.get(), POLLIN, 0});
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    const auto most = std::clamp<long long>(left.count(), 0, 1'000'000);
    if (::poll(watched_.data(), watched_.size(), static_cast<int>(most)) < 0) return;
    auto watched = watched_.begin() + 2;
    for (Arrival& arrival : arrivals_) {
        if ((watched++)->revents != 0) read_header(arrival);
    }
    if (watched_[1].revents != 0) accept_all();
    const auto now = Clock::now();
    std::erase_if(arrivals_, [now](const Arrival& arrival) {
        return !arrival.socket || arrival.deadline <= now;
    });
}

void Arrivals::accept_all() {
    while (true) {
        FileDescriptor socket(
            ::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (!socket) {
            if (errno != EAGAIN) accepts_from_ = Clock::now() + kPauseWithoutDescriptors;
            return;
        }
        if (arrivals_.size() >= kMostArrivals) continue;
        arrivals_.push_back({.socket = std::move(socket), .deadline = Clock::now() + patience_});
        read_header(arrivals_.back());
    }
}

void Arrivals::read_header(Arrival& arrival) {
    const ssize_t got = ::recv(arrival.socket.get(), arrival.bytes.data() + arrival.got,
                               arrival.bytes.size() - arrival.got, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0) arrival.got += static_cast<std::size_t>(got);
    if (got > 0 && arrival.got < arrival.bytes.size()) return;
    if (got > 0) arrival.header = parse_transfer_header(arrival.bytes);
    if (!arrival.header) arrival.socket.reset();
}

void Arrivals::offer(const std::function<void(const TransferHeader&, FileDescriptor&)>& take) {
    for (Arrival& arrival : arrivals_) {
        if (arrival.header) take(*arrival.header, arrival.socket);
    }
    std::erase_if(arrivals_, [](const Arrival& arrival) { return !arrival.socket; });
}

}  // namespace assay::cluster
