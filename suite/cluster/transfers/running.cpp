// A transfer under way, from its thread's beginning to what is reported of it.
#include <fmt/format.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <system_error>

#include "suite/cluster/transfers/port_state.hpp"

namespace assay::cluster {

void block_all_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void TransferPort::Impl::start(std::unique_ptr<Running> transfer) {
    const std::uint64_t id = transfer->order.id;
    Running& one = *running.emplace(id, std::move(transfer)).first->second;
    try {
        one.thread = std::thread([this, &one] { run(one); });
    } catch (const std::system_error&) {
        running.erase(id);
        throw;
    }
}

void TransferPort::Impl::run(Running& transfer) {
    block_all_signals();
    sends(transfer) ? run_sender(transfer) : run_receiver(transfer);
    std::lock_guard lock(mutex);
    if (closing) return;  // whoever closes joins it
    const auto found = running.find(transfer.order.id);
    ended.push_back(std::move(found->second));
    running.erase(found);
    ::eventfd_write(wake.get(), 1);
}

void TransferPort::Impl::run_sender(Running& transfer) {
    const TransferOrder& order = transfer.order;
    Connection& connection = transfer.connection;
    bool introduced = false, reported = false;
    std::string why = transfer.refusal;
    try {
        connection.connect(transfer.port, options.timeout);
        connection.send(encode_transfer_header({order.id, order.token}));
        introduced = true;
        send_all(transfer);
        connection.end_of_sending();
        std::byte last_word{};
        connection.receive({&last_word, 1});
        reported = last_word == kReportedByte;
        if (!reported && why.empty()) why = "the receiver answered with something else";
    } catch (const std::exception& error) {
        if (why.empty())
            why = introduced
                      ? fmt::format("worker {} did not take all of it: {}", order.to, error.what())
                      : fmt::format("worker {} cannot be reached: {}", order.to, error.what());
    }
    connection.close();
    // Once the receiver knows the sender, it reports how the connection ends.
    const bool aborted = connection.stopped();
    if (reported || (introduced && aborted) || is_closing()) return;
    events.broken(order.id, 0, aborted ? "it was aborted" : why);
}

// All of it, or why not. What else goes wrong, the receiver notices.
void TransferPort::Impl::send_all(Running& transfer) {
    std::string why = transfer.refusal;
    try {
        if (why.empty())
            send_range(transfer.connection, transfer.order, transfer.object, options, outgoing);
    } catch (const TransferBroken& error) {
        why = error.what();
    } catch (const std::exception&) {
        return;
    }
    try {
        if (!why.empty()) send_end(transfer.connection, why);
    } catch (const ConnectionClosed&) {
        // The receiver has ended it before.
    }
}

void TransferPort::Impl::run_receiver(Running& transfer) {
    const TransferOrder& order = transfer.order;
    std::uint64_t done = 0;
    std::string why;
    try {
        receive_range(transfer.connection, order,
                      transfer.object.writable().subspan(order.offset, order.bytes), options,
                      incoming, done);
    } catch (const ConnectionClosed& error) {
        why = fmt::format("worker {} did not send all of it: {}", order.from, error.what());
    } catch (const std::exception& error) {
        why = error.what();
    }
    if (is_closing()) return transfer.connection.close();
    if (why.empty()) {
        events.arrived(order.id);
    } else {
        events.broken(order.id, done, transfer.connection.stopped() ? "it was aborted" : why);
    }
    transfer.connection.close_with(kReportedByte);
}

bool TransferPort::Impl::is_closing() {
    std::lock_guard lock(mutex);
    return closing;
}

}  // namespace assay::cluster
