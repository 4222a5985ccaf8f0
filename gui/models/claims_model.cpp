#include "gui/models/claims_model.hpp"

#include "suite/report/text/text_table.hpp"

namespace assay::gui {
namespace {

QString text(const std::string& words) { return QString::fromStdString(words); }

// A mark beside the word, so that the verdict is seen without reading, and without colours.
QString verdict_text(const JudgedClaim& judged) {
    if (judged.claim->kind == ClaimKind::setting) return QStringLiteral("· setting");
    const std::string name(to_string(judged.check.verdict));
    switch (judged.check.verdict) {
        case ClaimVerdict::supported:
            return QStringLiteral("✓ holds");
        case ClaimVerdict::contradicted:
            return QStringLiteral("✗ ") + text(name);
        case ClaimVerdict::open_discrepancy:
            return QStringLiteral("≠ discrepancy");
        case ClaimVerdict::calibrated:
            return QStringLiteral("≈ ") + text(name);
        case ClaimVerdict::not_run:
        case ClaimVerdict::not_checkable_here:
            break;
    }
    return QStringLiteral("– ") + text(name);
}

QString value_text(const std::optional<double>& value, const std::string& unit) {
    if (!value) return {};
    return text(report::number(*value) + (unit.empty() ? "" : " " + unit));
}

}  // namespace

void ClaimsModel::set(std::vector<JudgedClaim> claims) {
    const bool same_rows =
        std::equal(claims.begin(), claims.end(), claims_.begin(), claims_.end(),
                   [](const JudgedClaim& a, const JudgedClaim& b) { return a.claim == b.claim; });
    if (same_rows && !claims.empty()) {
        claims_ = std::move(claims);
        emit dataChanged(index(0, 0), index(rowCount() - 1, columns - 1));
        return;
    }
    beginResetModel();
    claims_ = std::move(claims);
    endResetModel();
}

int ClaimsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(claims_.size());
}
int ClaimsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns;
}

QVariant ClaimsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const auto& [claim, check] = claims_[static_cast<std::size_t>(index.row())];
    if (role == claim_role) return text(claim->id);
    if (role == reason_role || role == Qt::ToolTipRole)
        return text(check.reason.empty() ? claim->says : check.reason);
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
        case verdict:
            return verdict_text({claim, check});
        case paper:
            return value_text(claim->value, claim->unit);
        case ours:
            return value_text(check.obtained, claim->unit);
        default:
            return text(claim->says);
    }
}

QVariant ClaimsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const names[columns] = {"Verdict", "Paper", "Ours", "The paper says"};
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 ||
        section >= columns)
        return {};
    return QString::fromLatin1(names[section]);
}

}  // namespace assay::gui
