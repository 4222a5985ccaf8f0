#include "gui/data/reader.hpp"

#include <QMetaObject>
#include <chrono>
#include <exception>
#include <utility>

namespace assay::gui {
namespace {

constexpr std::chrono::milliseconds look_every{300};

}  // namespace

Reader::Reader(std::filesystem::path file, QObject* parent)
    : QObject(parent), file_(std::move(file)), thread_([this] { read_all(); }) {}

Reader::~Reader() {
    // An interruption ends the statement that runs, of which a query may have more than one.
    for (std::unique_lock lock(mutex_); !stopped_; wake_.wait_for(lock, look_every / 10)) {
        stop_ = true;
        waiting_.clear();
        if (reading_) reading_->interrupt();
        wake_.notify_all();
    }
    thread_.join();
}

void Reader::enqueue(const QString& topic, Job job) {
    const long number = ++newest_;
    asked_[topic] = number;
    {
        const std::lock_guard lock(mutex_);
        waiting_[topic] = {number, std::move(job)};
        if (reading_ && at_work_on_ == topic) reading_->interrupt();
    }
    wake_.notify_all();
}

void Reader::drop(const QString& topic) {
    if (asked_.erase(topic) == 0) return;
    {
        const std::lock_guard lock(mutex_);
        waiting_.erase(topic);
        if (reading_ && at_work_on_ == topic) reading_->interrupt();
    }
    if (idle()) Q_EMIT became_idle();
}

void Reader::take(const QString& topic, long number, const Answer& answer, const QString& why) {
    const auto asked = asked_.find(topic);
    if (asked == asked_.end() || asked->second != number) return;  // obsolete
    asked_.erase(asked);
    Q_EMIT trouble(topic, why);
    if (answer) answer();
    if (idle()) Q_EMIT became_idle();
}

// ---- on the reader's thread
// ----------------------------------------------------------------------

void Reader::read_all() {
    for (;;) {
        QString topic;
        Asked asked;
        {
            std::unique_lock lock(mutex_);
            wake_.wait_for(lock, look_every, [&] { return stop_ || !waiting_.empty(); });
            if (stop_) {
                stopped_ = true;
                wake_.notify_all();
                return;
            }
            if (!waiting_.empty()) {
                topic = waiting_.begin()->first;
                asked = std::move(waiting_.begin()->second);
                waiting_.erase(waiting_.begin());
            }
        }
        if (asked.job)
            answer(topic, asked);
        else
            follow();
    }
}

store::Store& Reader::opened() {
    if (store_ && store_->replaced()) store_.reset();
    if (!store_) {
        store_ = store::Store::open(file_, store::Access::read);
        cursor_ = store_->before_what_runs();
    }
    return *store_;
}

void Reader::answer(const QString& topic, const Asked& asked) {
    Answer answer;
    QString why;
    try {
        store::Store* store = nullptr;
        try {
            store = &opened();
        } catch (...) {
            troubled_ = true;  // follow() tells when it can be read
            throw;
        }
        {
            const std::lock_guard lock(mutex_);
            reading_ = store;
            at_work_on_ = topic;
        }
        answer = asked.job(*store);
    } catch (const std::exception& error) {
        why = QString::fromUtf8(error.what());
    }
    {
        const std::lock_guard lock(mutex_);
        reading_ = nullptr;
    }
    QMetaObject::invokeMethod(
        this,
        [this, topic, number = asked.number, answer, why] { take(topic, number, answer, why); },
        Qt::QueuedConnection);
}

// A file that was missing may have come; one that was there may have gone.
void Reader::follow() {
    const auto tell = [this](auto signal) {
        QMetaObject::invokeMethod(this, signal, Qt::QueuedConnection);
    };
    try {
        const bool is_new = !store_ || store_->replaced();
        const store::Changes changes = opened().changes_since(*cursor_);
        cursor_ = changes.next;
        if (std::exchange(troubled_, false)) {
            tell([this] { Q_EMIT trouble({}, {}); });
            tell([this] { Q_EMIT changed(); });
        } else if (is_new || !changes.empty()) {
            tell([this] { Q_EMIT changed(); });
        }
    } catch (const std::exception& error) {
        if (!troubled_)
            tell([this, why = QString::fromUtf8(error.what())] { Q_EMIT trouble({}, why); });
        troubled_ = true;
        store_.reset();
    }
}

}  // namespace assay::gui
