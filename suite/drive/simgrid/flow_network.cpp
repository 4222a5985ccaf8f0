#include "suite/drive/simgrid/flow_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

#include "suite/drive/simgrid/simgrid_time.hpp"
#include "suite/scenario/network/rings.hpp"

namespace assay::drive {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The arguments of a collective, as the bytes that they are made of.
class CollectiveKey {
  public:
    explicit CollectiveKey(char collective) : bytes_(1, collective) {}

    template <class Number>
    CollectiveKey& add(std::span<const Number> numbers) {
        const std::size_t count = numbers.size();
        append(&count, sizeof count);
        append(numbers.data(), numbers.size_bytes());
        return *this;
    }
    const std::string& bytes() const { return bytes_; }

  private:
    void append(const void* data, std::size_t size) {
        bytes_.append(static_cast<const char*>(data), size);
    }
    std::string bytes_;
};

std::vector<int> numbers_below(int count) {
    std::vector<int> numbers(at(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

}  // namespace

struct FlowNetwork::Shared {
    std::shared_ptr<RankFlows> flows;
    FlowSettings settings;
    std::unordered_map<std::string, double> known;  ///< seconds, by the key
    Difference difference;
};

/// One ring: in every round each member sends to the next, as soon as it has sent before and has
/// received what the round before brought it.
struct FlowNetwork::Ring {
    std::vector<int> members;  ///< numbers in the flows
    double bytes;              ///< of a message
    int rounds;
    /// By member: messages begun, sent, received.
    std::vector<int> begun, sent, received;
};

FlowNetwork::FlowNetwork(std::shared_ptr<RankFlows> flows, FlowSettings settings)
    : shared_(std::make_shared<Shared>()), closed_form_(flows->topology()) {
    if (settings.messages_at_once < 1)
        throw std::invalid_argument("an all-to-all that sends no messages");
    shared_->flows = std::move(flows);
    shared_->settings = settings;
}

FlowNetwork::FlowNetwork(std::shared_ptr<Shared> shared, std::vector<int> places)
    : shared_(std::move(shared)),
      places_(std::move(places)),
      closed_form_(shared_->flows->topology().among(places_)) {}

const FlowNetwork::Difference& FlowNetwork::difference() const { return shared_->difference; }

int FlowNetwork::place(int rank) const { return places_.empty() ? rank : places_.at(at(rank)); }

std::shared_ptr<const Network> FlowNetwork::among(std::span<const int> ranks) const {
    std::vector<int> places;
    for (const int rank : ranks) places.push_back(place(rank));
    return std::shared_ptr<const Network>(new FlowNetwork(shared_, std::move(places)));
}

bool FlowNetwork::too_many(int ranks) const {
    if (ranks > shared_->settings.most_ranks) return true;
    for (int rank = 0; rank < ranks; ++rank)
        if (place(rank) >= shared_->flows->ranks()) return true;
    return false;
}

double FlowNetwork::priced(const std::string& key, double closed_form_s,
                           const std::function<double()>& simulate) const {
    if (const auto known = shared_->known.find(key); known != shared_->known.end())
        return known->second;
    const double seconds = shared_->known.emplace(key, simulate()).first->second;
    if (closed_form_s > 0) {
        Difference& all = shared_->difference;
        const double here = seconds / closed_form_s - 1;
        all.least = all.collectives ? std::min(all.least, here) : here;
        all.most = all.collectives ? std::max(all.most, here) : here;
        ++all.collectives;
        all.flows_s += seconds;
        all.closed_form_s += closed_form_s;
    }
    return seconds;
}

double FlowNetwork::all_to_all(std::span<const double> bytes, int ranks) const {
    const double closed_form_s = closed_form_.all_to_all(bytes, ranks);
    if (too_many(ranks)) return closed_form_s;
    CollectiveKey key('t');
    key.add(bytes).add(std::span<const int>(places_));
    return priced(key.bytes(), closed_form_s, [&] {
        SimGridTime time(shared_->flows);
        struct Sender {
            int next = 1;  ///< so many ranks after it
            int under_way = 0;
        };
        std::vector<Sender> senders(at(ranks));
        const std::function<void(int)> send = [&](int from) {
            Sender& sender = senders[at(from)];
            while (sender.next < ranks && sender.under_way < shared_->settings.messages_at_once) {
                const int to = (from + sender.next++) % ranks;
                ++sender.under_way;
                time.flow(place(from), place(to), bytes[at(from) * at(ranks) + at(to)],
                          [&, from](SimGridTime::End) {
                              --senders[at(from)].under_way;
                              send(from);
                          });
            }
        };
        for (int rank = 0; rank < ranks; ++rank) send(rank);
        while (time.next()) {
        }
        return time.now();
    });
}

double FlowNetwork::all_to_all(const Exchange& exchange) const {
    const int ranks = static_cast<int>(exchange.ranks.size());
    if (too_many(ranks) || !exchange.pairs) return closed_form_.all_to_all(exchange);
    return all_to_all(exchange.pairs(), ranks);
}

std::string FlowNetwork::says() const {
    return fmt::format("flows: {} messages of a rank at once; above {} ranks closed form",
                       shared_->settings.messages_at_once, shared_->settings.most_ranks);
}

double FlowNetwork::all_reduce(double bytes, int ranks) const {
    check_ranks(ranks);
    const std::vector<int> group = numbers_below(ranks);
    return grouped_all_reduce(std::span(&bytes, 1), std::span(&group, 1), ranks);
}

double FlowNetwork::grouped_all_reduce(std::span<const double> bytes,
                                       std::span<const std::vector<int>> groups, int ranks) const {
    const double closed_form_s = closed_form_.grouped_all_reduce(bytes, groups, ranks);
    if (too_many(ranks)) return closed_form_s;
    CollectiveKey key('r');
    key.add(bytes).add(std::span<const int>(places_));
    for (const auto& group : groups) key.add(std::span<const int>(group));
    return priced(key.bytes(), closed_form_s, [&] {
        std::vector<Ring> all;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const int members = static_cast<int>(groups[g].size());
            add_rings(all, bytes[g] / members, ring_messages(members), groups[g]);
        }
        return go_round(std::move(all));
    });
}

double FlowNetwork::all_gather(double bytes, int ranks) const {
    const double closed_form_s = closed_form_.all_gather(bytes, ranks);
    if (too_many(ranks)) return closed_form_s;
    CollectiveKey key('g');
    key.add(std::span<const double>(&bytes, 1)).add(std::span<const int>(places_));
    key.add(std::span<const int>(&ranks, 1));
    return priced(key.bytes(), closed_form_s, [&] {
        std::vector<Ring> all;
        add_rings(all, bytes, ranks - 1, numbers_below(ranks));
        return go_round(std::move(all));
    });
}

void FlowNetwork::add_rings(std::vector<Ring>& all, double bytes, int rounds,
                            std::span<const int> members) const {
    if (members.size() < 2) return;
    std::vector<int> places;
    for (const int member : members) places.push_back(place(member));
    const auto orders = rings(shared_->flows->topology(), places);
    for (const auto& order : orders) {
        const std::vector<int> none(order.size(), 0);
        all.push_back({.members = order,
                       .bytes = bytes / static_cast<double>(orders.size()),
                       .rounds = rounds,
                       .begun = none,
                       .sent = none,
                       .received = none});
    }
}

double FlowNetwork::go_round(std::vector<Ring> rings) const {
    SimGridTime time(shared_->flows);
    const std::function<void(Ring&, std::size_t)> send = [&](Ring& ring, std::size_t member) {
        const int round = ring.begun[member];
        if (round == ring.rounds || ring.sent[member] < round || ring.received[member] < round)
            return;
        ++ring.begun[member];
        const std::size_t next = (member + 1) % ring.members.size();
        time.flow(ring.members[member], ring.members[next], ring.bytes,
                  [&send, &ring, member, next](SimGridTime::End) {
                      ++ring.sent[member];
                      ++ring.received[next];
                      send(ring, member);
                      send(ring, next);
                  });
    };
    for (Ring& ring : rings)
        for (std::size_t member = 0; member < ring.members.size(); ++member) send(ring, member);
    while (time.next()) {
    }
    return time.now();
}

}  // namespace assay::drive
