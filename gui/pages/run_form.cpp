#include "gui/pages/run_form.hpp"

#include <QComboBox>
#include <QCompleter>
#include <QFormLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QSpinBox>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "gui/models/words.hpp"
#include "suite/experiment/value.hpp"

namespace assay::gui {
namespace {

const QString variants_name = QStringLiteral("variant");

template <class Item>
QString named(Item item) {
    return text(to_string(item));
}

/// The values that are run: of the profile where it replaces them.
std::vector<Value> values_of(const Axis& axis, const ProfilePlan* plan) {
    if (plan)
        if (const auto sweep = plan->axes.find(axis.name);
            sweep != plan->axes.end() && !sweep->second.empty())
            return sweep->second;
    return axis.values;
}

}  // namespace

RunForm::RunForm(std::shared_ptr<const Registry> registry, QWidget* parent)
    : QWidget(parent),
      registry_(std::move(registry)),
      experiments_(new QLineEdit),
      more_(new QLineEdit),
      profile_(new QComboBox),
      mode_(new QComboBox),
      rounds_(new QSpinBox),
      parts_(new QTreeWidget) {
    QStringList ids;
    for (const System& system : registry_->systems()) {
        ids << text(system.id);
        for (const Experiment& known : system.experiments) ids << text(known.id);
    }
    auto* completer = new QCompleter(ids, this);
    completer->setFilterMode(Qt::MatchContains);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    experiments_->setCompleter(completer);
    experiments_->setPlaceholderText(QStringLiteral("lazarus/fig8, lazarus, all"));
    experiments_->setAccessibleName(QStringLiteral("Experiments"));
    profile_->setAccessibleName(QStringLiteral("Profile: how large"));
    mode_->setAccessibleName(QStringLiteral("Provenance: how numbers come to be"));
    rounds_->setAccessibleName(QStringLiteral("Rounds: samples per case and variant"));
    // Whoever reads the window aloud meets the field inside as a part of its own.
    rounds_->findChild<QLineEdit*>()->setAccessibleName(rounds_->accessibleName());
    rounds_->setMaximum(10'000);
    rounds_->setSpecialValueText(QStringLiteral("as the profile says"));
    more_->setPlaceholderText(QStringLiteral("--seed 7 --until-decided"));
    more_->setAccessibleName(QStringLiteral("Further options"));
    parts_->setHeaderHidden(true);
    parts_->setAccessibleName(QStringLiteral("Variants and axes: what is checked is run"));
    parts_->setFrameShape(QFrame::NoFrame);

    auto* form = new QFormLayout;
    form->addRow(QStringLiteral("E&xperiments"), experiments_);
    form->addRow(QStringLiteral("&Profile"), profile_);
    form->addRow(QStringLiteral("&Mode"), mode_);
    form->addRow(QStringLiteral("&Rounds"), rounds_);
    form->addRow(QStringLiteral("&Options"), more_);
    auto* column = new QVBoxLayout(this);
    column->addLayout(form);
    column->addWidget(parts_, 1);
    setFocusProxy(experiments_);

    const auto tell = [this] {
        if (!filling_) Q_EMIT changed();
    };
    connect(experiments_, &QLineEdit::textChanged, this, &RunForm::show_experiment);
    connect(profile_, &QComboBox::currentIndexChanged, this, &RunForm::show_profile);
    connect(mode_, &QComboBox::currentIndexChanged, this, tell);
    connect(rounds_, &QSpinBox::valueChanged, this, tell);
    connect(more_, &QLineEdit::textChanged, this, tell);
    connect(parts_, &QTreeWidget::itemChanged, this, tell);
    show_experiment();
}

void RunForm::set_experiments(const QString& experiments) { experiments_->setText(experiments); }

const Experiment* RunForm::experiment() const {
    return registry_->experiment(experiments_->text().trimmed().toStdString());
}

void RunForm::show_experiment() {
    filling_ = true;
    const QString before = profile_->currentText();
    profile_->clear();
    if (const Experiment* known = experiment()) {
        for (const ProfilePlan& plan : known->profiles) profile_->addItem(named(plan.profile));
    } else {
        for (const Profile each :
             {Profile::toy, Profile::small, Profile::gpu, Profile::cluster, Profile::paper})
            profile_->addItem(named(each));
    }
    if (const int at = profile_->findText(before); at >= 0) profile_->setCurrentIndex(at);
    filling_ = false;
    show_profile();
}

void RunForm::show_profile() {
    if (filling_) return;
    filling_ = true;
    const Experiment* const known = experiment();
    const auto profile = of_word<Profile>(profile_->currentText().toStdString());
    const ProfilePlan* const plan = known && profile ? known->plan(*profile) : nullptr;
    mode_->clear();
    mode_->addItem(QStringLiteral("as usual"));
    std::vector<Provenance> modes{Provenance::exact, Provenance::measured, Provenance::emulated,
                                  Provenance::simulated};
    if (plan) modes = plan->provenances;
    for (const Provenance mode : modes) mode_->addItem(named(mode));
    parts_->clear();
    if (known) {
        QStringList variants;
        for (const std::string& variant :
             plan && !plan->variants.empty() ? plan->variants : known->variants)
            variants << text(variant);
        add_choices(variants_name, QStringLiteral("Variants"), variants);
        for (const Axis& axis : known->axes) {
            QStringList values;
            for (const Value& value : values_of(axis, plan)) values << named(value);
            add_choices(text(axis.name),
                        text(axis.name + (axis.says.empty() ? "" : ": ") + axis.says), values);
        }
    }
    filling_ = false;
    Q_EMIT changed();
}

void RunForm::add_choices(const QString& name, const QString& says, const QStringList& values) {
    if (values.isEmpty()) return;
    auto* part = new QTreeWidgetItem(parts_, {says});
    part->setData(0, Qt::UserRole, name);
    part->setToolTip(0, says);
    for (const QString& value : values) {
        auto* item = new QTreeWidgetItem(part, {value});
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
        item->setCheckState(0, Qt::Checked);
    }
    part->setExpanded(values.size() <= 8);
}

RunChoice RunForm::choice() const {
    RunChoice choice{.experiments = experiments_->text().trimmed().toStdString(),
                     .profile = {},
                     .mode = {},
                     .rounds = rounds_->value(),
                     .variants = {},
                     .axes = {},
                     .more = more_->text().trimmed().toStdString()};
    if (profile_->currentText() != named(Profile::toy))
        choice.profile = profile_->currentText().toStdString();
    if (mode_->currentIndex() > 0) choice.mode = mode_->currentText().toStdString();
    for (int i = 0; i < parts_->topLevelItemCount(); ++i) {
        const QTreeWidgetItem* part = parts_->topLevelItem(i);
        std::vector<std::string> checked;
        for (int j = 0; j < part->childCount(); ++j)
            if (part->child(j)->checkState(0) == Qt::Checked)
                checked.push_back(part->child(j)->text(0).toStdString());
        // None or all of them: nothing is narrowed.
        if (checked.empty() || static_cast<int>(checked.size()) == part->childCount()) continue;
        const QString name = part->data(0, Qt::UserRole).toString();
        if (name == variants_name && i == 0)
            choice.variants = checked;
        else
            choice.axes[name.toStdString()] = checked;
    }
    return choice;
}

}  // namespace assay::gui
