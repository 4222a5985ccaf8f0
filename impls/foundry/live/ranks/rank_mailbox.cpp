#include "impls/foundry/live/ranks/rank_mailbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace assay::foundry {
namespace {

using Clock = std::chrono::steady_clock;

/// By the folder's descriptor: a socket's address has no room for long paths.
sockaddr_un address(const FileDescriptor& folder, int rank) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    const std::string path = fmt::format("/proc/self/fd/{}/{}", folder.get(), rank);
    path.copy(at.sun_path, sizeof at.sun_path - 1);
    return at;
}

/// A message of one rank's number and, beside it, one file.
struct Letter {
    explicit Letter(int& rank) : content{&rank, sizeof rank} {
        message.msg_iov = &content;
        message.msg_iovlen = 1;
        message.msg_control = beside;
        message.msg_controllen = sizeof beside;
    }
    Letter(const Letter&) = delete;

    iovec content;
    alignas(cmsghdr) char beside[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
};

}  // namespace

RankMailbox::RankMailbox(const std::filesystem::path& folder, int rank) : rank_(rank) {
    std::filesystem::create_directories(folder);
    folder_ = FileDescriptor(check_call(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC),
                                        "open " + folder.string()));
    socket_ = FileDescriptor(check_call(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
    const sockaddr_un mine = address(folder_, rank);
    check_call(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&mine), sizeof mine),
               fmt::format("bind {}/{}", folder.string(), rank));
}

bool RankMailbox::give(int to, const FileDescriptor& file, Deadline deadline) const {
    sockaddr_un theirs = address(folder_, to);
    int mine = rank_;
    Letter letter(mine);
    letter.message.msg_name = &theirs;
    letter.message.msg_namelen = sizeof theirs;
    cmsghdr* const with = CMSG_FIRSTHDR(&letter.message);
    *with = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    const int descriptor = file.get();
    std::memcpy(CMSG_DATA(with), &descriptor, sizeof descriptor);
    while (::sendmsg(socket_.get(), &letter.message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (errno != ENOENT && errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR)
            check_call(-1, "sendmsg");
        if (Clock::now() >= deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

std::pair<int, FileDescriptor> RankMailbox::take(Deadline deadline) const {
    int from = -1;
    for (;;) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
        const int count = ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
        if (count == 0) return {-1, FileDescriptor()};
        if (count < 0 && errno != EINTR) check_call(-1, "poll");
        if (count > 0) break;
    }
    Letter letter(from);
    check_call(static_cast<int>(::recvmsg(socket_.get(), &letter.message, MSG_CMSG_CLOEXEC)),
               "recvmsg");
    int descriptor = -1;
    if (const cmsghdr* const with = CMSG_FIRSTHDR(&letter.message))
        std::memcpy(&descriptor, CMSG_DATA(with), sizeof descriptor);
    return {from, FileDescriptor(descriptor)};
}

}  // namespace assay::foundry
