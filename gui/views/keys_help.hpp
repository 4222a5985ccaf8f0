// What `?` shows.
#pragma once

class QWidget;

namespace assay::gui {

void show_keys(QWidget* parent);

}  // namespace assay::gui
