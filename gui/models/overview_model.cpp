#include "gui/models/overview_model.hpp"

#include <QStringList>
#include <algorithm>

#include "gui/models/words.hpp"

namespace assay::gui {
namespace {

// Indices of systems have the id 0, those of experiments their system's place and one.
constexpr quintptr of_system = 0;

long count(const std::map<std::string, long>& counts, const char* key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0 : found->second;
}

long in_column(const VerdictCounts& claims, int column) {
    switch (column) {
        case OverviewModel::hold:
            return count(claims, "supported");
        case OverviewModel::contradicted:
            return count(claims, "contradicted");
        case OverviewModel::undecided:
            return count(claims, "undecided");
        case OverviewModel::calibrated:
            return count(claims, "calibrated");
        case OverviewModel::open:
            return count(claims, "not run") + count(claims, "not checkable here");
        default:
            return 0;
    }
}

VerdictCounts sum_of(const OverviewSystem& system) {
    VerdictCounts sum;
    for (const OverviewExperiment& experiment : system.experiments)
        for (const auto& [verdict, n] : experiment.claims) sum[verdict] += n;
    return sum;
}

std::map<std::string, long> samples_of(const OverviewSystem& system) {
    std::map<std::string, long> sum;
    for (const OverviewExperiment& experiment : system.experiments)
        for (const auto& [status, n] : experiment.samples) sum[status] += n;
    return sum;
}

bool same_rows(const Overview& a, const Overview& b) {
    return std::equal(a.systems.begin(), a.systems.end(), b.systems.begin(), b.systems.end(),
                      [](const OverviewSystem& x, const OverviewSystem& y) {
                          return x.id == y.id &&
                                 std::equal(x.experiments.begin(), x.experiments.end(),
                                            y.experiments.begin(), y.experiments.end(),
                                            [](const auto& one, const auto& other) {
                                                return one.id == other.id;
                                            });
                      });
}

QVariant shown(const VerdictCounts& claims, const std::map<std::string, long>& samples,
               int column) {
    if (column == OverviewModel::samples) return samples_text(samples);
    const long n = in_column(claims, column);
    return n == 0 ? QVariant() : QVariant(static_cast<qlonglong>(n));
}

}  // namespace

QString samples_text(const std::map<std::string, long>& samples) {
    QStringList parts;
    if (const long ok = count(samples, "ok")) parts << QStringLiteral("%1 ok").arg(ok);
    for (const auto& [status, n] : samples)
        if (status != "ok" && n > 0) parts << QStringLiteral("%1 %2").arg(n).arg(text(status));
    return parts.join(", ");
}

void OverviewModel::set(Overview overview) {
    if (!same_rows(overview_, overview)) {
        beginResetModel();
        overview_ = std::move(overview);
        endResetModel();
        return;
    }
    overview_ = std::move(overview);
    for (int row = 0; row < rowCount(); ++row) {
        const QModelIndex system = index(row, 0);
        Q_EMIT dataChanged(system, index(row, columns - 1));
        if (const int rows = rowCount(system); rows > 0)
            Q_EMIT dataChanged(index(0, 0, system), index(rows - 1, columns - 1, system));
    }
}

QModelIndex OverviewModel::index_of(const QString& experiment) const {
    const std::string id = experiment.toStdString();
    for (std::size_t s = 0; s < overview_.systems.size(); ++s) {
        const auto& experiments = overview_.systems[s].experiments;
        for (std::size_t e = 0; e < experiments.size(); ++e)
            if (experiments[e].id == id)
                return index(static_cast<int>(e), 0, index(static_cast<int>(s), 0));
    }
    return {};
}

QModelIndex OverviewModel::index(int row, int column, const QModelIndex& parent) const {
    if (!hasIndex(row, column, parent)) return {};
    return createIndex(row, column,
                       parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : of_system);
}

QModelIndex OverviewModel::parent(const QModelIndex& child) const {
    if (!child.isValid() || child.internalId() == of_system) return {};
    return createIndex(static_cast<int>(child.internalId()) - 1, 0, of_system);
}

int OverviewModel::rowCount(const QModelIndex& parent) const {
    if (!parent.isValid()) return static_cast<int>(overview_.systems.size());
    if (parent.internalId() != of_system || parent.column() != 0) return 0;
    return static_cast<int>(
        overview_.systems[static_cast<std::size_t>(parent.row())].experiments.size());
}

int OverviewModel::columnCount(const QModelIndex&) const { return columns; }

QVariant OverviewModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    if (role == Qt::TextAlignmentRole) {
        // Samples too: at the left they would run into the numbers before them.
        return int((index.column() != title ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (index.internalId() == of_system) {
        const OverviewSystem& system = overview_.systems[static_cast<std::size_t>(index.row())];
        if (role != Qt::DisplayRole) return {};
        if (index.column() == title) return text(system.title.empty() ? system.id : system.title);
        return shown(sum_of(system), samples_of(system), index.column());
    }
    const OverviewExperiment& experiment = overview_.systems[index.internalId() - 1]
                                               .experiments[static_cast<std::size_t>(index.row())];
    if (role == id_role) return text(experiment.id);
    if (role == Qt::ToolTipRole)
        return experiment.title.empty() ? QStringLiteral("this program does not know it")
                                        : text(experiment.title);
    if (role != Qt::DisplayRole) return {};
    if (index.column() == title)
        return experiment.title.empty() ? text(experiment.id)
                                        : text(experiment.id + "  " + experiment.title);
    return shown(experiment.claims, experiment.samples, index.column());
}

QVariant OverviewModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const names[columns] = {"Figure",     "Hold", "Contradicted", "Undecided",
                                               "Calibrated", "Open", "Samples"};
    static const char* const says[columns] = {
        "systems, and the figures and tables of their papers",
        "claims that hold here",
        "claims that what was run contradicts; some are explained, which is with the claim",
        "claims for which what was run speaks neither way, or not far enough",
        "claims that our numbers were fitted to or chosen by",
        "claims that were not run, or cannot be checked on this machine",
        "of all sessions, by what became of them"};
    if (orientation != Qt::Horizontal || section < 0 || section >= columns) return {};
    if (role == Qt::DisplayRole) return QString::fromLatin1(names[section]);
    if (role == Qt::ToolTipRole) return QString::fromLatin1(says[section]);
    return {};
}

}  // namespace assay::gui
