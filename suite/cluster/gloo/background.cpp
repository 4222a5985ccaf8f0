#include "suite/cluster/gloo/background.hpp"

namespace assay::cluster {
namespace {

/// The process ends, and its connections with it.
void leave_open(Group group) { group.release(); }

}  // namespace

Background& Background::instance() {
    struct AtExit {
        Background& background;
        ~AtExit() { background.end(); }
    };
    static Background* const background = new Background;
    static const AtExit at_exit{*background};
    return *background;
}

void Background::start(std::function<void()> work) {
    std::lock_guard lock(mutex_);
    std::thread([this, work = std::move(work)]() mutable {
        work();
        work = nullptr;  // what it alone held goes before the thread counts as ended
        std::lock_guard lock(mutex_);
        --makers_;
        changed_.notify_all();
    }).detach();
    ++makers_;
}

void Background::close(Group group, std::shared_ptr<BreakableWait> state,
                       std::shared_ptr<Completion> last) {
    std::lock_guard lock(mutex_);
    if (ending_) return leave_open(std::move(group));
    arrived_.push_back({std::move(group), std::move(state), std::move(last)});
    changed_.notify_all();
}

void Background::end() {
    std::unique_lock lock(mutex_);
    ending_ = true;
    changed_.notify_all();
    // Longer than those need that can end. The others wait inside Gloo for a peer that is gone.
    changed_.wait_for(lock, std::chrono::seconds(1), [&] { return makers_ == 0; });
    lock.unlock();
    closer_.join();
    // What is still busy would be waited for.
    for (Entry& entry : busy_) leave_open(std::move(entry.group));
    busy_.clear();
}

void Background::close_groups() {
    std::unique_lock lock(mutex_);
    while (!ending_) {
        const auto woken = [&] { return ending_ || !arrived_.empty(); };
        if (busy_.empty()) {
            changed_.wait(lock, woken);
        } else {
            changed_.wait_for(lock, std::chrono::milliseconds(100), woken);
        }
        std::list<Entry> all = std::move(arrived_);
        arrived_.clear();
        lock.unlock();
        all.splice(all.end(), busy_);
        for (Entry& entry : all) {
            if (entry.busy()) {
                busy_.push_back(std::move(entry));
            } else if (ending_) {
                leave_open(std::move(entry.group));
            } else {
                entry.group.reset();
            }
        }
        lock.lock();
    }
    busy_.splice(busy_.end(), arrived_);
}

}  // namespace assay::cluster
