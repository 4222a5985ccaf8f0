// Reads the database on a thread of its own, so that the window never waits for it, and tells when
// a run has written.
#pragma once

#include <QObject>
#include <QString>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "suite/store/store.hpp"

namespace assay::gui {

/// Belongs to the user's thread. It holds no transaction between two queries.
class Reader : public QObject {
    Q_OBJECT
  public:
    explicit Reader(std::filesystem::path file, QObject* parent = nullptr);
    ~Reader() override;

    /// Runs `query` on the reader's thread, then `show` with its result on the user's. A later
    /// question of the same topic makes an earlier one obsolete: it is dropped or interrupted, and
    /// is not shown. A query may throw; then trouble() says why of its topic.
    template <class Query, class Show>
    void ask(const QString& topic, Query query, Show show) {
        enqueue(topic, [query = std::move(query), show = std::move(show)](store::Store& store) {
            auto result = std::make_shared<decltype(query(store))>(query(store));
            return [result, show] { show(std::move(*result)); };
        });
    }
    /// What was asked of a topic is obsolete, with nothing in its place.
    void drop(const QString& topic);
    /// Nothing is asked that has not been shown.
    bool idle() const { return asked_.empty(); }

  Q_SIGNALS:
    void changed();  ///< what is stored is not what it was
    /// A question of that topic failed, or, with no topic, the file cannot be read: why, a
    /// sentence; empty: no longer.
    void trouble(const QString& topic, const QString& why);
    void became_idle();

  private:
    using Answer = std::function<void()>;
    using Job = std::function<Answer(store::Store&)>;
    struct Asked {
        long number = 0;
        Job job;
    };

    void enqueue(const QString& topic, Job job);
    void take(const QString& topic, long number, const Answer& answer, const QString& why);
    // ---- on the reader's thread
    void read_all();
    void answer(const QString& topic, const Asked& asked);
    void follow();
    store::Store& opened();

    const std::filesystem::path file_;
    long newest_ = 0;                // number of the last question
    std::map<QString, long> asked_;  // not shown yet; of the user's thread

    std::mutex mutex_;
    std::condition_variable wake_;
    std::map<QString, Asked> waiting_;  // guarded by mutex_, as are the next four
    QString at_work_on_;
    const store::Store* reading_ = nullptr;
    bool stop_ = false, stopped_ = false;

    std::optional<store::Store> store_;  // of the reader's thread, as is what follows
    std::optional<store::Cursor> cursor_;
    bool troubled_ = false;
    std::thread thread_;
};

}  // namespace assay::gui
