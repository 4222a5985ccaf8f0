// Flows that share links as fluids do, max-min fairly, in a time that the caller keeps. A change
// (a flow begins or ends, a bandwidth is another) shares out anew the links that are connected with
// it by flows, and leaves all other flows as they are: it costs what that part is large.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace assay::drive {

/// The rates are a function of the links, their bandwidths and the flows that are under way, bit
/// for bit: how it came to them makes no difference. Misuse (an unknown flow or link, a negative
/// size, time that goes back) throws std::logic_error.
class FairFlows {
  public:
    using Link = int;            ///< 0, 1, …
    using Flow = std::uint64_t;  ///< above 0; those that begin later have larger ones
    static constexpr double no_limit = std::numeric_limits<double>::infinity();
    static constexpr std::size_t most_links = 4;  ///< of a flow

    /// In bytes/s: `no_limit` is allowed, and 0, on which flows stand still.
    Link add_link(double bytes_per_s);
    void set_bandwidth(Link, double bytes_per_s);

    /// From now on, over different links. A flow without a limit ends where it begins.
    Flow begin(std::span<const Link> links, double bytes);
    Flow begin(std::initializer_list<Link> links, double bytes) {
        return begin(std::span(links.begin(), links.size()), bytes);
    }
    /// Bytes by now: exactly its bytes from its end on.
    double done(Flow) const;
    double rate(Flow) const;  ///< bytes/s
    /// Forgets the flow, at its end or before. Returns the bytes done.
    double end(Flow);

    double now() const { return now_; }
    /// Not beyond the next end: whoever keeps the time ends that flow first.
    void advance(double now_s);
    /// When a flow ends if nothing changes, and which: the one that began first of several.
    /// Nothing: none is under way, or all stand still. A flow of no bytes ends at once, but not
    /// while it stands still.
    std::optional<std::pair<double, Flow>> next() const;
    std::size_t under_way() const { return states_.size() - free_.size(); }

  private:
    static constexpr double never = std::numeric_limits<double>::infinity();
    /// A flow's number is how many had begun, times this, and its place among states_.
    static constexpr std::uint64_t most_places = std::uint64_t{1} << 24;

    struct Hop {
        Link link;
        std::uint32_t place;  ///< among the link's users
    };
    struct State {
        Flow id = 0;                              ///< 0: the place is free
        double bytes = 0, done = 0, since_s = 0;  ///< done: by then
        double rate = 0, ends_s = never;          ///< from then on
        std::array<Hop, most_links> hops = {};
        std::uint32_t hop_count = 0;
        std::uint64_t seen = 0;  ///< by which sharing
        double new_rate = 0;     ///< of it
    };
    struct User {
        std::uint32_t flow;  ///< its place among states_
        std::uint32_t hop;
    };
    struct LinkState {
        double bandwidth = 0;
        std::vector<User> users;
        std::uint64_t seen = 0;   ///< by which sharing
        double left = 0;          ///< bytes/s that are not dealt out yet
        std::size_t waiting = 0;  ///< users that have no rate yet
    };
    struct End {  ///< of a flow; void when the flow ends at another time or is forgotten
        double ends_s;
        Flow flow;
        /// The first is the largest, as heaps of the standard library have it.
        bool operator<(const End& other) const {
            return ends_s != other.ends_s ? ends_s > other.ends_s : flow > other.flow;
        }
    };
    struct Share {  ///< what each user of a link gets that waits, or more
        double rate;
        Link link;
        bool operator<(const Share& other) const {
            return rate != other.rate ? rate > other.rate : link > other.link;
        }
    };

    LinkState& link(Link);
    std::span<const Hop> hops(const State& flow) const {
        return {flow.hops.data(), flow.hop_count};
    }
    const State& find(Flow) const;
    double done_by_now(const State&) const;
    bool is_void(const End&) const;

    void look_at(std::uint32_t flow);
    void share();  ///< anew, of all that is connected with the flows looked at
    void fill();
    void fix(State&, double rate);
    void set_rate(State&, double rate);
    void tidy_ends();

    double now_ = 0;
    Flow begun_ = 0;
    std::vector<State> states_;
    std::vector<std::uint32_t> free_;  ///< places of states_
    std::vector<LinkState> links_;
    std::vector<End> ends_;  ///< a heap; its first is not void

    std::uint64_t sharing_ = 1;        ///< they are counted
    std::vector<std::uint32_t> part_;  ///< places of the flows of this one
    std::vector<Link> limits_;         ///< its links, but for those without a limit
    std::vector<Share> shares_;        ///< a heap
};

}  // namespace assay::drive
