// The worker's end: one listener thread that reads, beats and watches for SIGTERM; senders share
// the socket under a lock.
#include "suite/cluster/processes/control_channel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "suite/base/file_descriptor.hpp"
#include "suite/cluster/processes/frame.hpp"
#include "suite/cluster/processes/signal_watch.hpp"

namespace assay::cluster {

using Clock = std::chrono::steady_clock;

struct ControlChannel::Impl {
    explicit Impl(int channel) : socket(channel) {}

    void listen() {
        const std::string beat = encode_frame(FrameKind::heartbeat, "");
        auto next_beat = Clock::now();
        while (true) {
            const auto now = Clock::now();
            if (now >= next_beat) {
                send_heartbeat(beat);
                next_beat = now + interval;
            }
            const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next_beat - now);
            pollfd watched[] = {{socket.get(), POLLIN, 0},
                                {wake.get(), POLLIN, 0},
                                {stopped ? -1 : stop_signal.fd(), POLLIN, 0}};
            if (::poll(watched, 3, static_cast<int>(wait.count())) < 0) continue;  // EINTR
            if (watched[1].revents != 0) return;
            if (watched[2].revents != 0) {
                stopped = true;
                enqueue({FrameKind::message, R"({"type": "stop_requested"})"});
            }
            if (watched[0].revents != 0 && !read_messages()) {
                std::lock_guard lock(queue_mutex);
                closed = true;
                arrived.notify_all();
                return;
            }
        }
    }

    // A sender that holds the lock is bytes on the wire, which count as life: no need to wait for
    // it.
    void send_heartbeat(const std::string& beat) {
        const std::unique_lock lock(send_mutex, std::try_to_lock);
        if (!lock) return;
        const ssize_t sent =
            ::send(socket.get(), beat.data(), beat.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) write_all(beat.data() + sent, beat.size() - sent);
    }

    /// False: nothing will come any more.
    bool read_messages() {
        const std::lock_guard reading(read_mutex);
        char bytes[1 << 16];
        const ssize_t got = ::recv(socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
        if (got < 0) return errno == EAGAIN || errno == EINTR;
        if (got == 0) return false;
        try {
            reader.feed(bytes, got);
            while (auto frame = reader.next()) {
                if (frame->kind == FrameKind::urgent && on_urgent)
                    on_urgent(decode_message(*frame));
                if (frame->kind != FrameKind::heartbeat) enqueue(std::move(*frame));
            }
        } catch (const FrameError& error) {
            std::lock_guard lock(queue_mutex);
            malformed = error.what();
            return false;
        }
        return true;
    }

    void enqueue(Frame frame) {
        std::lock_guard lock(queue_mutex);
        queue.push_back(std::move(frame));
        arrived.notify_all();
    }

    bool write_all(const char* data, std::size_t bytes) {
        while (bytes > 0) {
            const ssize_t sent = ::send(socket.get(), data, bytes, MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR) continue;
            if (sent < 0) return false;
            data += sent;
            bytes -= sent;
        }
        return true;
    }

    /// `lock` holds queue_mutex. Parsing is left to the thread that receives: a message of many
    /// megabytes must not hold up the heartbeats.
    std::optional<nlohmann::json> pop(std::unique_lock<std::mutex>& lock) {
        if (queue.empty() && malformed.empty()) return std::nullopt;
        if (queue.empty()) throw std::runtime_error("from the supervisor: " + malformed);
        const Frame frame = std::move(queue.front());
        queue.pop_front();
        lock.unlock();
        return decode_message(frame);
    }

    FileDescriptor socket;
    FileDescriptor wake{check_call(::eventfd(0, EFD_CLOEXEC), "eventfd")};
    SignalWatch stop_signal{SIGTERM};
    std::atomic<bool> stopped{false};
    Clock::duration interval{};
    std::function<void(const nlohmann::json&)> on_urgent;
    FrameReader reader;
    std::mutex send_mutex;
    std::mutex read_mutex;  ///< held from taking bytes off the socket to their frames being queued
    std::mutex queue_mutex;
    std::condition_variable arrived;
    std::deque<Frame> queue;
    std::atomic<bool> closed{false};
    std::string malformed;
    std::thread listener;
};

ControlChannel::ControlChannel(int fd) : impl_(std::make_unique<Impl>(fd)) {}

ControlChannel::~ControlChannel() {
    if (!impl_->listener.joinable()) return;
    ::eventfd_write(impl_->wake.get(), 1);
    impl_->listener.join();
}

void ControlChannel::start(Seconds interval, std::function<void(const nlohmann::json&)> on_urgent) {
    if (impl_->listener.joinable()) throw std::logic_error("ControlChannel::start() called twice");
    impl_->interval = std::chrono::duration_cast<Clock::duration>(interval);
    impl_->on_urgent = std::move(on_urgent);
    impl_->listener = std::thread([impl = impl_.get()] { impl->listen(); });
}

void ControlChannel::send(const nlohmann::json& body) {
    const std::string frame = encode_message(body);
    std::lock_guard lock(impl_->send_mutex);
    if (!impl_->write_all(frame.data(), frame.size())) {
        throw std::runtime_error("the supervisor is gone: a control message could not be sent");
    }
}

std::optional<nlohmann::json> ControlChannel::receive() {
    if (!impl_->listener.joinable()) {
        throw std::logic_error("ControlChannel::receive() before start()");
    }
    std::unique_lock lock(impl_->queue_mutex);
    impl_->arrived.wait(lock, [&] { return !impl_->queue.empty() || impl_->closed; });
    return impl_->pop(lock);
}

std::optional<nlohmann::json> ControlChannel::try_receive(Seconds timeout) {
    if (!impl_->listener.joinable()) {
        throw std::logic_error("ControlChannel::try_receive() before start()");
    }
    std::unique_lock lock(impl_->queue_mutex);
    impl_->arrived.wait_for(lock, timeout, [&] { return !impl_->queue.empty() || impl_->closed; });
    return impl_->pop(lock);
}

void ControlChannel::post(const nlohmann::json& body) {
    impl_->enqueue({FrameKind::message, body.dump()});
}

void ControlChannel::settle() {
    for (;;) {
        int unread = 0;
        {
            const std::lock_guard reading(impl_->read_mutex);
            check_call(::ioctl(impl_->socket.get(), FIONREAD, &unread), "unread control messages");
        }
        if (unread == 0 || impl_->closed) return;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

bool ControlChannel::stop_requested() const { return impl_->stopped; }

void ControlChannel::fail(const std::string& why) noexcept {
    try {
        const std::string frame = encode_frame(FrameKind::failure, why);
        std::lock_guard lock(impl_->send_mutex);
        impl_->write_all(frame.data(), frame.size());
    } catch (const std::exception&) {
        // Out of memory or far too long: the exit status must speak for itself.
    }
}

// The supervisor's end.

WorkerConnection::WorkerConnection(int fd) : socket_(fd) {
    check_call(::fcntl(fd, F_SETFL, O_NONBLOCK), "non-blocking control channel");
}

void WorkerConnection::send(const std::string& frame) {
    if (!open()) return;
    output_ += frame;
    flush();
}

void WorkerConnection::flush() {
    while (wants_to_write()) {
        const ssize_t sent = ::send(fd(), output_.data() + written_, output_.size() - written_,
                                    MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno == EAGAIN) break;
        if (sent < 0) {
            // The worker has closed its end. What it sent before can still be read, so the socket
            // stays; its death is reported by other means.
            written_ = output_.size();
            break;
        }
        written_ += sent;
    }
    if (written_ == output_.size()) {
        output_.clear();
        written_ = 0;
    }
}

WorkerConnection::Received WorkerConnection::receive() {
    Received received;
    char bytes[1 << 16];
    std::size_t total = 0;
    while (open() && total < kReceiveAtOnceBytes) {
        const ssize_t got = ::recv(fd(), bytes, sizeof bytes, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) break;
        if (got <= 0) {
            socket_.reset();
            break;
        }
        total += got;
        try {
            reader_.feed(bytes, got);
            while (auto frame = reader_.next()) {
                if (frame->kind == FrameKind::heartbeat) continue;
                if (frame->kind == FrameKind::failure) {
                    received.failure = std::move(frame->payload);
                } else {
                    received.messages.push_back(decode_message(*frame));
                }
            }
        } catch (const FrameError& error) {
            received.malformed = error.what();
            socket_.reset();
        }
    }
    received.any_bytes = total > 0;
    return received;
}

}  // namespace assay::cluster
