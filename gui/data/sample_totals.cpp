#include "gui/data/sample_totals.hpp"

#include <algorithm>

namespace assay::gui {
namespace {

constexpr int most_tries = 3;

}  // namespace

std::vector<store::ExperimentCounts> SampleTotals::read(const store::Store& store) {
    if (cursor_) {
        const store::Changes changes = store.changes_since(*cursor_);
        if (apply(changes))
            cursor_ = changes.next;
        else
            cursor_.reset();
    }
    if (!cursor_) count(store);
    std::vector<store::ExperimentCounts> all;
    for (const auto& [experiment, total] : totals_) all.push_back(total.counts);
    return all;
}

std::vector<store::Session> SampleTotals::running() const {
    std::vector<store::Session> running;
    for (const auto& [id, session] : sessions_)
        if (session.state == "running") running.push_back(session);
    std::stable_sort(running.begin(), running.end(),
                     [](const auto& a, const auto& b) { return a.arrival > b.arrival; });
    return running;
}

// What is written between the count and the look at what runs would be counted twice or not at all:
// then it is counted again; after some tries it is right, but nothing is kept.
void SampleTotals::count(const store::Store& store) {
    store::Cursor cursor = store.before_what_runs();
    for (int left = most_tries; left > 0; --left) {
        latest_started_.clear();
        totals_.clear();
        followed_.clear();
        sessions_.clear();
        const store::Changes running = store.changes_since(cursor);
        follow(running);
        for (store::ExperimentCounts& counts : store.sample_counts()) {
            Total& total = totals_[counts.experiment];
            if (const auto newest = store.session(counts.newest)) {
                latest_started_ = std::max(latest_started_, newest->started);
                // What runs is newer than all that is over.
                total.newest_arrival = newest->state == "running" ? newest->arrival : 0;
            }
            total.counts = std::move(counts);
        }
        if (store.changes_since(running.next).empty()) {
            cursor_ = running.next;
            return;
        }
    }
}

void SampleTotals::follow(const store::Changes& changes) {
    for (const store::Session& session : changes.sessions) sessions_[session.id] = session;
    for (const store::SampleChange& change : changes.samples)
        followed_[change.sample.id] = {change.sample.spec.experiment, change.sample.status};
}

/// False: the totals cannot be brought up to date by these.
bool SampleTotals::apply(const store::Changes& changes) {
    if (changes.everything || !changes.removed_samples.empty() || !changes.removed_sessions.empty())
        return false;
    for (const store::Session& session : changes.sessions) {
        // One that was over when all was counted may have samples that are not followed.
        if (!sessions_.contains(session.id) && session.started <= latest_started_) return false;
        sessions_[session.id] = session;
    }
    for (const store::SampleChange& change : changes.samples) {
        const auto session = sessions_.find(change.sample.session);
        if (session == sessions_.end()) return false;
        const Counted now{change.sample.spec.experiment, change.sample.status};
        Total& total = totals_[now.first];
        store::ExperimentCounts& counts = total.counts;
        counts.experiment = now.first;
        const auto [known, is_new] = followed_.try_emplace(change.sample.id, now);
        if (!is_new) {
            const auto old = counts.samples.find(known->second.second);
            if (old == counts.samples.end()) return false;
            if (--old->second == 0) counts.samples.erase(old);
            known->second = now;
        } else if (session->second.arrival >= total.newest_arrival) {
            counts.newest = change.sample.session;
            total.newest_arrival = session->second.arrival;
        }
        ++counts.samples[now.second];
    }
    return true;
}

}  // namespace assay::gui
