#include "suite/cluster/transfers/transfer_port.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <stdexcept>

#include "suite/cluster/transfers/port_state.hpp"

namespace assay::cluster {

TransferPort::Impl::Impl(TransferPortOptions given, TransferEvents told)
    : options(std::move(given)),
      events(std::move(told)),
      arrivals(listen_on_loopback(), options.timeout),
      wake(check_call(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
    if (!options.links || !events.arrived || !events.broken)
        throw std::logic_error("a transfer port needs link faults and both events");
    listener = std::thread([this] { listen(); });
}

TransferPort::Impl::~Impl() {
    {
        std::lock_guard lock(mutex);
        closing = true;
        for (auto& [id, transfer] : running) transfer->connection.stop(/*both=*/sends(*transfer));
    }
    options.links->wake();
    ::eventfd_write(wake.get(), 1);
    listener.join();
    for (auto& [id, transfer] : running) transfer->thread.join();
}

void TransferPort::Impl::check_new(const TransferOrder& order, WorkerId here,
                                   WorkerId there) const {
    if (here != options.self || there == options.self)
        throw std::logic_error(
            fmt::format("transfer {} from worker {} to worker {} is not for "
                        "worker {}",
                        order.id, order.from, order.to, options.self));
    if (order.token.size() != kTransferTokenBytes)
        throw std::logic_error(fmt::format("transfer {}: a token has {} bytes, not {}", order.id,
                                           kTransferTokenBytes, order.token.size()));
    if (running.count(order.id) || expected.count(order.id) || ended_early.count(order.id))
        throw std::logic_error(fmt::format("there was a transfer {} before", order.id));
}

// Why the order's range is not in `objects`; empty: it is.
std::string TransferPort::Impl::why_not(const TransferOrder& order, const Objects& objects,
                                        const char* done) const {
    const auto found = objects.find(order.object);
    if (found == objects.end())
        return fmt::format("worker {} has not {} \"{}\"", options.self, done, order.object);
    if (found->second.holds(order.offset, order.bytes)) return {};
    return fmt::format("{} bytes from {} on are not all in \"{}\", of which worker {} has {}",
                       order.bytes, order.offset, order.object, options.self, found->second.size());
}

void TransferPort::Impl::send(const TransferOrder& order, std::uint16_t port) {
    std::lock_guard lock(mutex);
    check_new(order, order.from, order.to);
    auto transfer = std::make_unique<Running>(order, Bytes::length_only(0));
    transfer->port = port;
    transfer->refusal = why_not(order, offered, "offered");
    if (transfer->refusal.empty()) transfer->object = offered.at(order.object);
    start(std::move(transfer));
}

void TransferPort::Impl::expect(const TransferOrder& order) {
    std::lock_guard lock(mutex);
    check_new(order, order.to, order.from);
    const auto now = Clock::now();
    Expected one{order, Bytes::length_only(0), now, why_not(order, accepted, "accepted")};
    if (one.why.empty()) {
        one.object = accepted.at(order.object);
        one.give_up += clock_units(options.timeout);
    }
    expected.emplace(order.id, std::move(one));
    ::eventfd_write(wake.get(), 1);
}

void TransferPort::Impl::abort(std::uint64_t id) {
    {
        std::lock_guard lock(mutex);
        if (const auto found = running.find(id); found != running.end()) {
            Running& transfer = *found->second;
            transfer.connection.stop(/*both=*/sends(transfer));
        } else if (const auto waiting = expected.find(id); waiting != expected.end()) {
            if (waiting->second.why.empty()) waiting->second.why = "it was aborted";
            waiting->second.give_up = {};
            ::eventfd_write(wake.get(), 1);
        }
    }
    options.links->wake();
}

TransferPort::TransferPort(TransferPortOptions options, TransferEvents events)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(events))) {}

TransferPort::~TransferPort() = default;

std::uint16_t TransferPort::port() const { return impl_->arrivals.port(); }

void TransferPort::offer(const std::string& object, Bytes bytes) {
    if (!bytes.has_content())
        throw std::logic_error("a length without content cannot be sent: " + object);
    std::lock_guard lock(impl_->mutex);
    impl_->offered.insert_or_assign(object, std::move(bytes));
}

void TransferPort::accept(const std::string& object, Bytes bytes) {
    if (!bytes.is_writable())
        throw std::logic_error("what is received must have somewhere to be written: " + object);
    std::lock_guard lock(impl_->mutex);
    impl_->accepted.insert_or_assign(object, std::move(bytes));
}

void TransferPort::withdraw(const std::string& object) {
    const std::lock_guard lock(impl_->mutex);
    impl_->offered.erase(object);
    impl_->accepted.erase(object);
}

void TransferPort::send(const TransferOrder& order, std::uint16_t port) {
    impl_->send(order, port);
}

void TransferPort::expect(const TransferOrder& order) { impl_->expect(order); }

void TransferPort::abort(std::uint64_t id) { impl_->abort(id); }

}  // namespace assay::cluster
