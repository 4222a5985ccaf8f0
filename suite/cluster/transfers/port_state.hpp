// The state of a port, and its threads: one that listens, and one for each transfer under way.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "suite/cluster/transfers/arrivals.hpp"
#include "suite/cluster/transfers/connection.hpp"
#include "suite/cluster/transfers/ends.hpp"

namespace assay::cluster {

/// The process's signals are for its other threads. A file that is sent to a closed connection
/// raises SIGPIPE, for which sendfile(2) has no flag.
void block_all_signals();

struct TransferPort::Impl {
    using Clock = Connection::Clock;
    using Objects = std::map<std::string, Bytes>;

    /// One that is expected here and has no connection yet.
    struct Expected {
        TransferOrder order;
        Bytes object;
        Clock::time_point give_up;
        std::string why;  ///< it is broken, which is reported at `give_up`; empty: it is not
    };
    /// One that has a thread.
    struct Running {
        Running(TransferOrder what, Bytes where)
            : order(std::move(what)), object(std::move(where)) {}

        TransferOrder order;
        Bytes object;
        std::uint16_t port = 0;  ///< sending: the receiver's
        std::string refusal{};   ///< sending: why it cannot be done
        Connection connection{};
        std::thread thread{};
    };

    Impl(TransferPortOptions options, TransferEvents events);
    ~Impl();

    // transfer_port.cpp
    void send(const TransferOrder& order, std::uint16_t port);
    void expect(const TransferOrder& order);
    void abort(std::uint64_t id);
    void check_new(const TransferOrder& order, WorkerId here, WorkerId there) const;
    std::string why_not(const TransferOrder& order, const Objects& objects, const char* done) const;

    // listening.cpp
    void listen();
    void join_ended();
    void give_up_overdue();
    void take_over(const TransferHeader& header, FileDescriptor& socket);

    // running.cpp
    /// `mutex` is held.
    void start(std::unique_ptr<Running> transfer);
    void run(Running& transfer);
    void run_sender(Running& transfer);
    void send_all(Running& transfer);
    void run_receiver(Running& transfer);
    bool sends(const Running& transfer) const { return transfer.order.from == options.self; }
    bool is_closing();

    const TransferPortOptions options;
    const TransferEvents events;
    Direction outgoing, incoming;
    Arrivals arrivals;  ///< the listener's
    FileDescriptor wake;
    std::mutex mutex;  ///< of all that follows; never held while something is waited for
    bool closing = false;
    Objects offered, accepted;
    std::map<std::uint64_t, Expected> expected;
    std::map<std::uint64_t, std::unique_ptr<Running>> running;
    std::vector<std::unique_ptr<Running>> ended;  ///< to be joined
    /// Reported before a connection came for them: if one comes, its sender is told so.
    std::set<std::uint64_t> ended_early;
    std::thread listener;
};

}  // namespace assay::cluster
