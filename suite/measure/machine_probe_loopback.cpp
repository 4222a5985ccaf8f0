// Probes of TCP on 127.0.0.1.
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "suite/measure/machine_probe.hpp"

namespace assay::measure {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

class Socket {
  public:
    explicit Socket(int fd, const char* what) : fd_(fd) {
        if (fd < 0) fail(what);
    }
    ~Socket() { ::close(fd_); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    int fd() const { return fd_; }

    void send_all(const std::vector<char>& bytes) const {
        for (std::size_t sent = 0; sent < bytes.size();) {
            const ssize_t some =
                ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
            if (some < 0 && errno != EINTR) fail("sending on loopback");
            if (some > 0) sent += static_cast<std::size_t>(some);
        }
    }
    /// Bytes received, 0 at the end.
    std::size_t receive(std::vector<char>& into) const {
        while (true) {
            const ssize_t some = ::recv(fd_, into.data(), into.size(), 0);
            if (some >= 0) return static_cast<std::size_t>(some);
            if (errno != EINTR) fail("receiving on loopback");
        }
    }

  private:
    int fd_;
};

/// Both ends of a TCP connection on loopback, without delay of small messages.
class Connection {
  public:
    Connection() : Connection(listening()) {}
    const Socket& near() const { return near_; }
    const Socket& far() const { return far_; }

  private:
    struct Listening {
        int fd;
        sockaddr_in address;
    };
    static Listening listening() {
        Listening result{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), {}};
        result.address.sin_family = AF_INET;
        result.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof result.address;
        auto* address = reinterpret_cast<sockaddr*>(&result.address);
        if (result.fd < 0 || ::bind(result.fd, address, size) != 0 || ::listen(result.fd, 1) != 0 ||
            ::getsockname(result.fd, address, &size) != 0)
            fail("listening on loopback");
        return result;
    }
    static int connected(const Listening& to) {
        const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 &&
            ::connect(fd, reinterpret_cast<const sockaddr*>(&to.address), sizeof to.address) != 0)
            fail("connecting on loopback");
        return fd;
    }
    explicit Connection(Listening at)
        : listener_(at.fd, "listening on loopback"),
          near_(connected(at), "connecting on loopback"),
          far_(::accept4(at.fd, nullptr, nullptr, SOCK_CLOEXEC), "accepting on loopback") {
        const int on = 1;
        for (const Socket* end : {&near_, &far_})
            ::setsockopt(end->fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }

    Socket listener_, near_, far_;
};

/// Says "no more" on leaving the scope, so that whoever receives at the other end comes to its end.
/// To be declared after the thread that receives.
class Ending {
  public:
    explicit Ending(const Socket& sender) : sender_(sender) {}
    ~Ending() { ::shutdown(sender_.fd(), SHUT_WR); }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;

  private:
    const Socket& sender_;
};

}  // namespace

Reading probe_loopback_latency(const ProbeEffort& effort) {
    const Connection connection;
    std::jthread echo([&] {
        std::vector<char> byte(1);
        while (connection.far().receive(byte) > 0) connection.far().send_all(byte);
    });
    const Ending ending(connection.near());
    std::vector<char> byte(1, 'x');
    const auto round_trips = [&](int count) {
        const auto start = Clock::now();
        for (int i = 0; i < count; ++i) {
            connection.near().send_all(byte);
            connection.near().receive(byte);
        }
        return seconds_since(start) / count;
    };
    const double first = round_trips(50);
    const int count = std::clamp(static_cast<int>(effort.seconds / first), 50, 20000);
    Reading reading;
    reading.how = fmt::format("half a round trip of one byte, TCP on loopback, {} in a row", count);
    for (int i = 0; i < effort.repetitions; ++i) reading.values.push_back(round_trips(count) / 2);
    return reading;
}

Reading probe_loopback_bandwidth(const ProbeEffort& effort) {
    constexpr std::size_t piece = 1 << 20;
    Reading reading;
    reading.how =
        "one TCP connection on loopback, pieces of 1 MiB, sender and receiver on a thread each";
    for (int i = 0; i < effort.repetitions; ++i) {
        const Connection connection;
        std::size_t received = 0;
        const auto start = Clock::now();
        {
            std::jthread receiver([&] {
                std::vector<char> into(piece);
                while (const std::size_t some = connection.far().receive(into)) received += some;
            });
            const Ending ending(connection.near());
            const std::vector<char> bytes(piece, 'x');
            do connection.near().send_all(bytes);
            while (seconds_since(start) < effort.seconds);
        }
        reading.values.push_back(static_cast<double>(received) / seconds_since(start));
    }
    return reading;
}

}  // namespace assay::measure
