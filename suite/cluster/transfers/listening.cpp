// The thread of a port that listens: takes connections to the transfers they are of, gives up those
// for which none comes, and joins the threads of those that have ended.
#include <fmt/format.h>
#include <sys/eventfd.h>

#include <system_error>

#include "suite/cluster/transfers/port_state.hpp"

namespace assay::cluster {

void TransferPort::Impl::listen() {
    block_all_signals();
    while (true) {
        auto until = Clock::now() + std::chrono::hours(1);
        {
            std::lock_guard lock(mutex);
            if (closing) break;
            for (const auto& [id, one] : expected) until = std::min(until, one.give_up);
        }
        arrivals.wait(wake.get(), until);
        eventfd_t ignored;
        ::eventfd_read(wake.get(), &ignored);
        join_ended();
        give_up_overdue();
        arrivals.offer([this](const TransferHeader& header, FileDescriptor& socket) {
            take_over(header, socket);
        });
    }
    join_ended();
}

void TransferPort::Impl::join_ended() {
    std::vector<std::unique_ptr<Running>> some;
    {
        std::lock_guard lock(mutex);
        some.swap(ended);
    }
    for (auto& transfer : some) transfer->thread.join();
}

void TransferPort::Impl::give_up_overdue() {
    std::vector<Expected> overdue;
    {
        std::lock_guard lock(mutex);
        const auto now = Clock::now();
        for (auto at = expected.begin(); at != expected.end();) {
            const auto one = at++;
            if (one->second.give_up > now) continue;
            ended_early.insert(one->first);
            overdue.push_back(std::move(one->second));
            expected.erase(one);
        }
    }
    for (const Expected& one : overdue) {
        events.broken(one.order.id, 0,
                      !one.why.empty() ? one.why
                                       : fmt::format("worker {} did not begin to send within {} s",
                                                     one.order.from, options.timeout.count()));
    }
}

void TransferPort::Impl::take_over(const TransferHeader& header, FileDescriptor& socket) {
    std::lock_guard lock(mutex);
    if (closing) return;
    if (ended_early.count(header.id) > 0) {
        Connection connection;
        connection.take_over(std::move(socket));
        return connection.close_with(kReportedByte);
    }
    const auto found = expected.find(header.id);
    if (found == expected.end()) return;
    Expected& one = found->second;
    if (one.order.token != header.token) return socket.reset();
    if (!one.why.empty()) return;
    auto transfer = std::make_unique<Running>(one.order, one.object);
    transfer->connection.take_over(std::move(socket));
    try {
        start(std::move(transfer));
        expected.erase(found);
    } catch (const std::system_error& error) {
        one.why = fmt::format("there is no thread for it: {}", error.what());
        one.give_up = {};
    }
}

}  // namespace assay::cluster
