// The program `assay`, which does what the window itself must not: it runs, plans, judges the
// machine and writes.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <filesystem>
#include <functional>
#include <memory>

namespace assay::gui {

/// What it said.
struct Said {
    bool ok = false;  ///< it ended with 0
    QByteArray out;
    QString why;  ///< a sentence where it is not ok: its own words, or why there are none
};

/// Words as one types them.
QString command_text(const QStringList& arguments);

/// Waits for its end. `environment`: "NAME=value", in addition to ours.
Said ask_assay(const QStringList& arguments, const QStringList& environment = {});

/// Asks it without making anybody wait. Belongs to the user's thread.
class AssayProgram : public QObject {
    Q_OBJECT
  public:
    explicit AssayProgram(QObject* parent = nullptr) : QObject(parent) {}
    ~AssayProgram() override;

    /// What was asked before is ended and not answered.
    void ask(const QStringList& arguments, std::function<void(const Said&)> then,
             const QStringList& environment = {});
    /// What was asked is ended and not answered.
    void drop();
    /// For what must not be cut short: a command that writes.
    bool busy() const { return process_ != nullptr; }

  private:
    std::unique_ptr<QProcess> process_;
};

/// A run that was started and goes on when the window is closed: in a session (of processes) of its
/// own, with its events and its words in files below `folder`.
struct StartedRun {
    qint64 process = 0;
    QString events, words;  ///< files
};
/// Throws UserError.
StartedRun start_run(const QStringList& arguments, const std::filesystem::path& folder);
/// Still there, and not only unreaped.
bool is_alive(qint64 process);
/// Why it ended, of those that never began a session: its last words; empty: it did not complain.
QString complaint_of(const StartedRun& run);

}  // namespace assay::gui
