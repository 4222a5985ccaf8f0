#include "gui/views/export.hpp"

#include <QAbstractItemModel>
#include <QImage>
#include <QPainter>
#include <QSaveFile>
#include <QStringList>

#include "gui/plot/painter.hpp"
#include "suite/report/figures/svg_writer.hpp"

namespace assay::gui {
namespace {

QString quoted(QString cell) {
    if (!cell.contains(',') && !cell.contains('"') && !cell.contains('\n')) return cell;
    return '"' + cell.replace('"', "\"\"") + '"';
}

bool write(const QString& file, const QByteArray& bytes) {
    QSaveFile out(file);
    return out.open(QIODevice::WriteOnly) && out.write(bytes) == bytes.size() && out.commit();
}

void add_rows(const QAbstractItemModel& model, const QModelIndex& parent, QByteArray& csv) {
    for (int row = 0; row < model.rowCount(parent); ++row) {
        QStringList cells;
        for (int column = 0; column < model.columnCount(parent); ++column)
            cells << quoted(model.index(row, column, parent).data().toString());
        csv += cells.join(',').toUtf8() + "\r\n";
        add_rows(model, model.index(row, 0, parent), csv);
    }
}

}  // namespace

QByteArray csv_of(const QAbstractItemModel& rows) {
    QStringList heads;
    for (int column = 0; column < rows.columnCount(); ++column)
        heads << quoted(rows.headerData(column, Qt::Horizontal).toString());
    QByteArray csv = heads.join(',').toUtf8() + "\r\n";
    add_rows(rows, {}, csv);
    return csv;
}

bool save_table(const QAbstractItemModel& rows, const QString& file) {
    return write(file, csv_of(rows));
}

bool save_picture(const report::Plot& plot, const QString& file) {
    if (file.endsWith(".svg")) return write(file, QByteArray::fromStdString(report::to_svg(plot)));
    if (!file.endsWith(".png")) return false;
    constexpr double scale = 2;
    QImage picture(QSizeF(plot.width() * scale, plot.height() * scale).toSize(),
                   QImage::Format_RGB32);
    QPainter painter(&picture);
    painter.scale(scale, scale);
    paint(painter, plot, report::Theme::light);
    painter.end();
    return picture.save(file);
}

}  // namespace assay::gui
