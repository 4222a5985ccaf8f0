// What one chose to see of a view, and the steps by which one came there.
#pragma once

#include <QString>
#include <QUndoCommand>
#include <chrono>
#include <functional>

#include "gui/views/location.hpp"
#include "suite/report/figures/view_window.hpp"

namespace assay::gui {

/// The part of a plot's axes, and which rows of the table.
struct Seen {
    report::ViewWindow window;
    QString filter;
    bool only_what_matters = false;
    bool operator==(const Seen&) const = default;
};

/// One zoom or one filter, in the place where it was. It has happened when it is pushed; what
/// follows at once in the same place is one step with it.
class SeenCommand : public QUndoCommand {
  public:
    using Show = std::function<void(const Location&, const Seen&)>;

    SeenCommand(Location place, Seen before, Seen after, Show show);
    void undo() override { show_(place_, before_); }
    void redo() override;
    int id() const override { return 1; }
    bool mergeWith(const QUndoCommand* next) override;

  private:
    using Clock = std::chrono::steady_clock;

    Location place_;
    Seen before_, after_;
    Show show_;
    bool has_happened_ = true;
    Clock::time_point at_ = Clock::now();
};

}  // namespace assay::gui
