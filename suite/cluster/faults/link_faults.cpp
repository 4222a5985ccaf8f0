#include "suite/cluster/faults/link_faults.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace assay::cluster {
namespace {

constexpr WorkerId kEverybody = -1;
constexpr double kForever_s = 1e9;  ///< longer durations than decades would overflow the clock

std::chrono::steady_clock::duration clock_duration(Seconds seconds) {
    return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        Seconds(std::min(seconds.count(), kForever_s)));
}

bool harmless(const LinkCondition& condition) {
    return condition.latency.count() == 0 && condition.bandwidth == 0 && condition.loss == 0 &&
           !condition.cut;
}

void check(WorkerId self, WorkerId peer, const LinkCondition& condition) {
    const auto refuse = [&](const std::string& why) {
        throw std::invalid_argument("link to worker " + std::to_string(peer) + ": " + why);
    };
    const auto valid = [](double value) { return value >= 0 && std::isfinite(value); };
    if (peer < kEverybody || peer == self) refuse("worker " + std::to_string(self) + " has none");
    if (!valid(condition.latency.count())) refuse("the latency must be at least 0 s");
    if (!valid(condition.bandwidth)) refuse("the bandwidth must be positive, or 0 for no limit");
    if (!valid(condition.resend_after.count())) refuse("resend_after must be at least 0 s");
    if (!(condition.loss >= 0 && condition.loss < 1)) {
        refuse("the loss must be at least 0 and less than 1; a link that loses all is cut");
    }
}

}  // namespace

LinkFaults::Impl::Impl(WorkerId name, std::uint64_t seed) : self(name) {
    std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                        static_cast<std::uint32_t>(name)};
    random.seed(mixed);
}

void LinkFaults::Impl::set(WorkerId peer, const LinkCondition& condition,
                           std::optional<Seconds> duration) {
    const auto until =
        duration ? Clock::now() + clock_duration(*duration) : Clock::time_point::max();
    if (!harmless(condition)) {
        entries[peer] = {condition, until};
    } else if (peer == kEverybody) {
        entries.erase(peer);
        // Peers that had been exempt from it are as all others again.
        std::erase_if(entries, [](const auto& entry) { return harmless(entry.second.condition); });
    } else if (entries.count(kEverybody) > 0) {
        entries[peer] = {condition, until};  // an exemption
    } else {
        entries.erase(peer);
    }
    refresh_active();
    changed.notify_all();
}

const LinkCondition* LinkFaults::Impl::condition_of(WorkerId peer) const {
    const auto now = Clock::now();
    for (const WorkerId who : {peer, kEverybody}) {
        const auto found = entries.find(who);
        if (found == entries.end() || found->second.until <= now) continue;
        return harmless(found->second.condition) ? nullptr : &found->second.condition;
    }
    return nullptr;
}

void LinkFaults::Impl::expire() {
    const auto now = Clock::now();
    std::erase_if(entries, [now](const auto& entry) { return entry.second.until <= now; });
    refresh_active();
}

LinkFaults::Impl::Clock::time_point LinkFaults::Impl::next_expiry() const {
    auto next = Clock::time_point::max();
    for (const auto& [peer, entry] : entries) next = std::min(next, entry.until);
    return next;
}

bool LinkFaults::Impl::is_cut(const Exchange& exchange) const {
    const LinkCondition* link = condition_of(exchange.peer);
    return link != nullptr && link->cut;
}

std::optional<WorkerId> LinkFaults::Impl::wait_for_cut_links(std::unique_lock<std::mutex>& lock,
                                                             const std::vector<Exchange>& exchanges,
                                                             Seconds timeout,
                                                             const std::function<bool()>& broken) {
    const auto cut = [this](const Exchange& exchange) { return is_cut(exchange); };
    for (const Exchange& exchange : exchanges) {
        if (cut(exchange)) counts.cut += exchange.sent + exchange.received;
    }
    const auto give_up = Clock::now() + clock_duration(timeout);
    while (!broken()) {
        expire();
        const auto found = std::find_if(exchanges.begin(), exchanges.end(), cut);
        if (found == exchanges.end()) break;
        if (Clock::now() >= give_up) return found->peer;
        changed.wait_until(lock, std::min(give_up, next_expiry()));
    }
    return std::nullopt;
}

Seconds LinkFaults::Impl::draw_delay(const Exchange& exchange) {
    const LinkCondition* link = condition_of(exchange.peer);
    if (link == nullptr) return Seconds(0);
    Seconds delay = link->latency;
    if (link->bandwidth > 0) delay += Seconds(double(exchange.bytes) / link->bandwidth);
    if (delay.count() > 0) counts.delayed += exchange.sent + exchange.received;
    return delay + double(draw_losses(*link, exchange.sent)) * link->resend_after;
}

long LinkFaults::Impl::draw_losses(const LinkCondition& link, long messages) {
    long lost = 0;
    for (long message = 0; message < messages && link.loss > 0; ++message)
        lost += std::geometric_distribution<long>(1 - link.loss)(random);
    counts.lost += lost;
    return lost;
}

void LinkFaults::Impl::wait_for_slow_links(std::unique_lock<std::mutex>& lock,
                                           const std::vector<Exchange>& exchanges,
                                           const std::function<bool()>& broken) {
    Seconds longest{0};  // links work side by side
    for (const Exchange& exchange : exchanges) longest = std::max(longest, draw_delay(exchange));
    if (longest.count() > 0) {
        changed.wait_until(lock, Clock::now() + clock_duration(longest), broken);
    }
}

std::optional<std::size_t> LinkFaults::Impl::draw_flip(const std::vector<Payload>& payloads) {
    std::vector<Payload> candidates;
    for (const Payload& payload : payloads) {
        if (payload.bytes > 0) candidates.push_back(payload);
    }
    if (corruptions_wanted == 0 || candidates.empty()) return std::nullopt;
    --corruptions_wanted;
    ++counts.corrupted;
    refresh_active();
    const Payload& chosen = candidates[random() % candidates.size()];
    return 8 * chosen.offset + random() % (8 * chosen.bytes);
}

void LinkFaults::Impl::refresh_active() {
    active.store(!entries.empty() || corruptions_wanted > 0, std::memory_order_release);
}

LinkFaults::LinkFaults(WorkerId self, std::uint64_t seed)
    : impl_(std::make_shared<Impl>(self, seed)) {}

LinkFaults::~LinkFaults() = default;

void LinkFaults::set(WorkerId peer, const LinkCondition& condition,
                     std::optional<Seconds> duration) {
    check(impl_->self, peer, condition);
    if (duration && !(duration->count() >= 0)) {
        throw std::invalid_argument("a link fault cannot last less than 0 s");
    }
    std::lock_guard lock(impl_->mutex);
    impl_->set(peer, condition, duration);
}

void LinkFaults::corrupt_next_message() {
    std::lock_guard lock(impl_->mutex);
    ++impl_->corruptions_wanted;
    impl_->refresh_active();
}

void LinkFaults::abort(const std::string& group, const std::string& why) {
    std::lock_guard lock(impl_->mutex);
    impl_->aborted.emplace(group, why);
    impl_->changed.notify_all();
}

Seconds LinkFaults::held() const {
    std::lock_guard lock(impl_->mutex);
    return impl_->held;
}

LinkFaults::Counts LinkFaults::counts() const {
    std::lock_guard lock(impl_->mutex);
    return impl_->counts;
}

LinkCondition LinkFaults::condition(WorkerId peer) const {
    if (!impl_->active.load(std::memory_order_acquire)) return {};
    std::lock_guard lock(impl_->mutex);
    const LinkCondition* found = impl_->condition_of(peer);
    return found == nullptr ? LinkCondition{} : *found;
}

bool LinkFaults::wait_while_cut(WorkerId peer, Seconds timeout,
                                const std::function<bool()>& ended) {
    if (!impl_->active.load(std::memory_order_acquire)) return true;
    std::unique_lock lock(impl_->mutex);
    const LinkCondition* link = impl_->condition_of(peer);
    if (link != nullptr && (link->latency.count() > 0 || link->bandwidth > 0))
        ++impl_->counts.delayed;
    return !impl_->wait_for_cut_links(lock, {{peer, 0, 1, 0}}, timeout, ended);
}

void LinkFaults::wake() {
    std::lock_guard lock(impl_->mutex);
    impl_->changed.notify_all();
}

Seconds LinkFaults::draw_resends(WorkerId peer) {
    if (!impl_->active.load(std::memory_order_acquire)) return Seconds(0);
    std::lock_guard lock(impl_->mutex);
    const LinkCondition* link = impl_->condition_of(peer);
    if (link == nullptr) return Seconds(0);
    return double(impl_->draw_losses(*link, 1)) * link->resend_after;
}

std::optional<std::size_t> LinkFaults::draw_flip(std::size_t bytes) {
    if (!impl_->active.load(std::memory_order_acquire)) return std::nullopt;
    std::lock_guard lock(impl_->mutex);
    return impl_->draw_flip({{0, bytes}});
}

}  // namespace assay::cluster
