#include "suite/runner/interruption.hpp"

#include <fcntl.h>
#include <poll.h>

#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace assay::runner {
namespace {

std::atomic<int> wake_fd{-1};

void on_signal(int) {
    const int saved = errno;
    const int fd = wake_fd.load();
    if (fd >= 0) [[maybe_unused]]
        const ssize_t ignored = ::write(fd, "x", 1);
    errno = saved;
}

}  // namespace

Interruption::Interruption() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        throw std::system_error(errno, std::generic_category(), "pipe");
    read_.reset(ends[0]);
    write_.reset(ends[1]);
    int expected = -1;
    if (!wake_fd.compare_exchange_strong(expected, ends[1]))
        throw std::logic_error("two runs in one process at a time");
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < signals.size(); ++i) {
        ::sigaction(signals[i], nullptr, &previous_[i]);
        if (previous_[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &action, nullptr);
    }
}

Interruption::~Interruption() {
    for (std::size_t i = 0; i < signals.size(); ++i)
        ::sigaction(signals[i], &previous_[i], nullptr);
    wake_fd = -1;
}

bool Interruption::requested() const {
    pollfd entry{read_.get(), POLLIN, 0};
    return ::poll(&entry, 1, 0) > 0;
}

}  // namespace assay::runner
