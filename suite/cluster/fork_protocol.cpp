#include "suite/cluster/fork_protocol.hpp"

#include <sys/socket.h>

#include <cstring>

namespace assay::cluster {
namespace {
constexpr std::size_t kMaxDescriptors = 2;
}

void send_packet(int socket, const ForkPacket& packet, const std::vector<int>& descriptors) {
    iovec data{const_cast<ForkPacket*>(&packet), sizeof packet};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptors)] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
        const std::size_t bytes = sizeof(int) * descriptors.size();
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(bytes);
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(bytes);
        std::memcpy(CMSG_DATA(header), descriptors.data(), bytes);
    }
    ssize_t sent;
    do {
        sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    check_call(static_cast<int>(sent), "send to the other side of the fork server");
}

std::optional<ReceivedPacket> receive_packet(int socket, int flags) {
    ReceivedPacket received;
    iovec data{&received.packet, sizeof received.packet};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptors)];
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t got;
    do {
        got = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno == ECONNRESET) return std::nullopt;
    check_call(static_cast<int>(got), "receive from the other side of the fork server");
    if (got == 0) return std::nullopt;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
            received.descriptors.emplace_back(fd);
        }
    }
    return received;
}

}  // namespace assay::cluster
