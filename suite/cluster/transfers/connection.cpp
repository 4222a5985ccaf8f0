#include "suite/cluster/transfers/connection.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <string>
#include <system_error>

namespace assay::cluster {
namespace {

/// The kernel's buffers of a connection, at either end: enough for two chunks to be under way. With
/// more, a sender would be long ahead of a receiver that is slower than it, and have taken the
/// bandwidth for it from its other transfers.
constexpr int kSocketBufferBytes = 256 << 10;

sockaddr_in loopback_address(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

template <class Value>
void set_option(int socket, int level, int option, const Value& value, const char* what) {
    check_call(::setsockopt(socket, level, option, &value, sizeof value), what);
}

[[noreturn]] void throw_closed() { throw ConnectionClosed(std::system_category().message(errno)); }

}  // namespace

FileDescriptor listen_on_loopback() {
    FileDescriptor socket(check_call(
        ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket for transfers"));
    // Connections inherit it. Set before there is one: it decides on the window they begin with.
    set_option(socket.get(), SOL_SOCKET, SO_RCVBUF, kSocketBufferBytes, "buffer for transfers");
    const sockaddr_in address = loopback_address(0);
    check_call(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
               "bind of a socket for transfers");
    check_call(::listen(socket.get(), SOMAXCONN), "listen for transfers");
    return socket;
}

std::uint16_t port_of(const FileDescriptor& socket) {
    sockaddr_in address{};
    socklen_t bytes = sizeof address;
    check_call(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &bytes),
               "port of a socket for transfers");
    return ntohs(address.sin_port);
}

void Connection::throw_if_stopped() const {
    if (stopped_) throw ConnectionClosed("it was stopped");
}

void Connection::connect(std::uint16_t port, Seconds timeout) {
    FileDescriptor socket(
        check_call(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket for a transfer"));
    const int handle = socket.get();
    set_option(handle, SOL_SOCKET, SO_SNDBUF, kSocketBufferBytes, "buffer for a transfer");
    set_option(handle, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY for a transfer");
    // Also the limit of connect(), which waits where the receiver's queue is full.
    const long limit_us = std::lround(1e6 * std::clamp(timeout.count(), 1e-6, 1e9));
    const timeval limit{limit_us / 1'000'000, limit_us % 1'000'000};
    set_option(handle, SOL_SOCKET, SO_SNDTIMEO, limit, "time limit of a connection");
    {
        std::lock_guard lock(mutex_);
        socket_ = std::move(socket);
    }
    throw_if_stopped();
    const sockaddr_in address = loopback_address(port);
    if (::connect(handle, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw_closed();
    throw_if_stopped();  // just before connect(), which would not have noticed
    set_option(handle, SOL_SOCKET, SO_SNDTIMEO, timeval{}, "time limit of a connection");
}

void Connection::take_over(FileDescriptor socket) {
    check_call(::fcntl(socket.get(), F_SETFL, 0), "blocking connection of a transfer");
    std::lock_guard lock(mutex_);
    socket_ = std::move(socket);
}

void Connection::send(std::span<const std::byte> first, std::span<const std::byte> second) {
    iovec parts[2] = {{const_cast<std::byte*>(first.data()), first.size()},
                      {const_cast<std::byte*>(second.data()), second.size()}};
    while (parts[0].iov_len + parts[1].iov_len > 0) {
        throw_if_stopped();
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = 2;
        const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) throw_closed();
        auto left = static_cast<std::size_t>(sent);
        for (iovec& part : parts) {
            const std::size_t taken = std::min(left, part.iov_len);
            part.iov_base = static_cast<std::byte*>(part.iov_base) + taken;
            part.iov_len -= taken;
            left -= taken;
        }
    }
}

void Connection::send_file(std::span<const std::byte> first, int file, std::uint64_t offset,
                           std::size_t bytes) {
    while (!first.empty()) {
        throw_if_stopped();
        const ssize_t sent =
            ::send(socket_.get(), first.data(), first.size(), MSG_NOSIGNAL | MSG_MORE);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) throw_closed();
        first = first.subspan(static_cast<std::size_t>(sent));
    }
    auto at = static_cast<off_t>(offset);
    while (bytes > 0) {
        throw_if_stopped();
        const ssize_t sent = ::sendfile(socket_.get(), file, &at, bytes);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) throw_closed();
        if (sent == 0) throw ConnectionClosed("the file has become shorter");
        bytes -= static_cast<std::size_t>(sent);
    }
}

void Connection::receive(std::span<std::byte> all) {
    while (!all.empty()) {
        throw_if_stopped();
        const ssize_t got = ::recv(socket_.get(), all.data(), all.size(), MSG_WAITALL);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw_closed();
        if (got == 0) throw ConnectionClosed("the other end closed it");
        all = all.subspan(static_cast<std::size_t>(got));
    }
}

void Connection::sleep_until(Clock::time_point when) {
    if (when > Clock::now()) {
        std::unique_lock lock(mutex_);
        stop_came_.wait_until(lock, when, [this] { return stopped(); });
    }
    throw_if_stopped();
}

bool Connection::other_end_is_done() const {
    std::byte ignored;
    const ssize_t got = ::recv(socket_.get(), &ignored, 1, MSG_PEEK | MSG_DONTWAIT);
    return got >= 0 || (errno != EAGAIN && errno != EINTR);
}

void Connection::stop(bool both) {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    stop_came_.notify_all();
    if (socket_) ::shutdown(socket_.get(), both ? SHUT_RDWR : SHUT_RD);
}

void Connection::end_of_sending() { ::shutdown(socket_.get(), SHUT_WR); }

void Connection::close_with(std::byte last_word) {
    // One byte always has room; where it has not, the other end is gone.
    ::send(socket_.get(), &last_word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    close();
}

void Connection::close() {
    std::lock_guard lock(mutex_);
    socket_.reset();
}

}  // namespace assay::cluster
