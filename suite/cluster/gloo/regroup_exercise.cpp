#include "suite/cluster/gloo/regroup_exercise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace assay::cluster {
namespace {

using nlohmann::json;

constexpr double kGiveUpAfter_s = 30;

// All processes of a host share this clock.
double clock_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

int run_worker(WorkerId self, ControlChannel& control, const json& config) {
    GlooContext gloo({.port = config.at("port"),
                      .timeout = std::chrono::milliseconds(config.at("timeout_ms").get<long>())});
    control.start(Seconds(config.at("heartbeat_s").get<double>()), [&](const json& message) {
        gloo.abort(message.at("abort"), "the supervisor said that a member is gone");
    });
    control.send({{"type", "joined"}});

    std::unique_ptr<Communicator> group;
    std::string key;
    bool reported = true;
    while (true) {
        // Between two all-reduces only a look; without a group, wait.
        auto message = group ? control.try_receive(Seconds(0)) : control.receive();
        if (!group && !message) return 0;
        if (message && message->contains("abort")) continue;  // done by the listener
        try {
            if (message) {
                group.reset();
                key = message->at("key");
                group = gloo.make_group(key, message->at("ranks").at(std::to_string(self)),
                                        message->at("size"));
                reported = false;
            }
            std::int64_t sum = std::int64_t{1} << (self % 62);
            group->all_reduce_sum(&sum, 1, Dtype::i64);
            if (!std::exchange(reported, true)) {
                control.send(
                    {{"type", "reduced"}, {"key", key}, {"sum", sum}, {"clock_s", clock_s()}});
            }
        } catch (const CommunicatorBroken& broken) {
            control.send(
                {{"type", "broken"}, {"key", key}, {"why", broken.what()}, {"clock_s", clock_s()}});
            group.reset();
        }
    }
}

}  // namespace

RegroupExercise::RegroupExercise(SupervisorOptions options, std::chrono::milliseconds gloo_timeout)
    : supervisor_(make_fork_server(run_worker), options), gloo_timeout_(gloo_timeout) {}

WorkerMessage RegroupExercise::next_message() {
    const double deadline = supervisor_.now_s() + kGiveUpAfter_s;
    while (supervisor_.now_s() < deadline) {
        auto event = supervisor_.next(Seconds(0.1));
        if (!event) continue;
        if (auto* message = std::get_if<WorkerMessage>(&*event)) return std::move(*message);
        if (const auto* died = std::get_if<WorkerDied>(&*event)) {
            throw std::runtime_error(
                fmt::format("worker {} died unasked: {}", died->worker, died->how));
        }
    }
    throw std::runtime_error("the workers have fallen silent");
}

std::string RegroupExercise::announce_group() {
    key_ = fmt::format("group-{}", groups_++);
    json ranks = json::object();
    for (std::size_t rank = 0; rank < members_.size(); ++rank) {
        ranks[std::to_string(members_[rank])] = rank;
    }
    supervisor_.send(members_, {{"key", key_}, {"ranks", ranks}, {"size", members_.size()}});
    return key_;
}

void RegroupExercise::take_reduced(const WorkerMessage& message) {
    std::int64_t expected = 0;
    for (WorkerId member : members_) expected += std::int64_t{1} << (member % 62);
    if (message.body.at("sum") != expected) {
        throw std::runtime_error(fmt::format("worker {} got a sum of {} instead of {}",
                                             message.worker,
                                             message.body.at("sum").get<std::int64_t>(), expected));
    }
}

void RegroupExercise::form(int size) {
    while (static_cast<int>(supervisor_.alive().size()) < size) {
        supervisor_.spawn({{"port", rendezvous_.port()},
                           {"timeout_ms", gloo_timeout_.count()},
                           {"heartbeat_s", 0.02}});
        while (next_message().body.at("type") != "joined") continue;
    }
    // A running group notices at its next all-reduce that a member has left for the new one.
    supervisor_.send(members_, {{"urgent", true}, {"abort", key_}});
    members_ = supervisor_.alive();
    members_.resize(size);
    const std::string key = announce_group();
    for (std::size_t reduced = 0; reduced < members_.size();) {
        const auto message = next_message();
        if (message.body.at("type") != "reduced" || message.body.at("key") != key) continue;
        take_reduced(message);
        ++reduced;
    }
}

RegroupExercise::Timeline RegroupExercise::lose(const std::vector<WorkerId>& victims, Fault fault) {
    Timeline timeline;
    const std::string old_key = key_;
    const double start = clock_s();
    for (WorkerId victim : victims) {
        if (fault == Fault::kill) supervisor_.kill(victim);
        if (fault == Fault::hang) supervisor_.hang(victim, std::nullopt);
    }
    std::set<WorkerId> reduced;
    std::size_t deaths = 0;
    while (deaths < victims.size() || reduced.size() < members_.size()) {
        const auto event = supervisor_.next(Seconds(0.1));
        if (clock_s() - start > kGiveUpAfter_s) {
            throw std::runtime_error("the survivors did not regroup");
        }
        if (!event) continue;
        if (const auto* died = std::get_if<WorkerDied>(&*event)) {
            if (std::count(victims.begin(), victims.end(), died->worker) == 0) {
                throw std::runtime_error(
                    fmt::format("worker {} died unasked: {}", died->worker, died->how));
            }
            timeline.detected_s = clock_s() - start;
            ++deaths;
            members_.erase(std::remove(members_.begin(), members_.end(), died->worker),
                           members_.end());
            supervisor_.send(members_, {{"urgent", true}, {"abort", key_}});
            reduced.clear();
            announce_group();
        } else if (const auto* message = std::get_if<WorkerMessage>(&*event)) {
            const json& body = message->body;
            const double since = body.value("clock_s", start) - start;
            if (body.at("type") == "broken" && body.at("key") == old_key) {
                timeline.all_broken_s = std::max(timeline.all_broken_s, since);
                timeline.broken[message->worker] = body.at("why");
            } else if (body.at("type") == "reduced" && body.at("key") == key_) {
                take_reduced(*message);
                timeline.regrouped_s = std::max(timeline.regrouped_s, since);
                reduced.insert(message->worker);
            }
        }
    }
    return timeline;
}

}  // namespace assay::cluster
