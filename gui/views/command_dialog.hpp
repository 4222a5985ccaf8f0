// A command of `assay` that writes: shown before it is run, with what it asks for.
#pragma once

#include <QDialog>
#include <QStringList>
#include <functional>
#include <vector>

#include "gui/data/assay_program.hpp"

class QDialogButtonBox;
class QLabel;
class QLineEdit;

namespace assay::gui {

/// What the command needs to know.
struct CommandField {
    QString label, value;
    QString hint = {};  ///< where it is empty
    bool is_needed = false;
};

class CommandDialog : public QDialog {
    Q_OBJECT
  public:
    /// From the fields' values to the arguments of `assay`.
    using Arguments = std::function<QStringList(const QStringList& values)>;
    struct Command {
        QString title, says;  ///< says: what it does, before anything is done
        std::vector<CommandField> fields;
        Arguments arguments;
    };
    CommandDialog(Command command, QWidget* parent);

    QString command() const;  ///< as it is run
    void run();               ///< accepts where it succeeds; else says why not
    void reject() override;   ///< not while the command runs: it would be cut short

  Q_SIGNALS:
    void done_now(const QString& said);  ///< its words, of one that succeeded

  private:
    QStringList values() const;
    void show_command();

    Command command_;
    std::vector<QLineEdit*> fields_;
    QLabel *shown_, *trouble_;
    QDialogButtonBox* buttons_;
    AssayProgram program_;
};

}  // namespace assay::gui
