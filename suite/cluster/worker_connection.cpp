#include "suite/cluster/worker_connection.hpp"

#include <fcntl.h>
#include <sys/socket.h>

namespace assay::cluster {

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
