// Where one chooses what to run: experiments, profile, mode, variants, axes, rounds.
#pragma once

#include <QWidget>
#include <memory>

#include "gui/data/runs.hpp"
#include "suite/experiment/system.hpp"

class QComboBox;
class QLineEdit;
class QSpinBox;
class QTreeWidget;
class QTreeWidgetItem;

namespace assay::gui {

class RunForm : public QWidget {
    Q_OBJECT
  public:
    explicit RunForm(std::shared_ptr<const Registry> registry, QWidget* parent = nullptr);

    void set_experiments(const QString& experiments);
    RunChoice choice() const;

  Q_SIGNALS:
    void changed();

  private:
    void show_experiment();
    void show_profile();
    /// Null: several, a pattern, or unknown.
    const Experiment* experiment() const;
    void add_choices(const QString& name, const QString& says, const QStringList& values);

    std::shared_ptr<const Registry> registry_;
    QLineEdit *experiments_, *more_;
    QComboBox *profile_, *mode_;
    QSpinBox* rounds_;
    QTreeWidget* parts_;  // variants, then axes: those that are checked are run
    bool filling_ = false;
};

}  // namespace assay::gui
