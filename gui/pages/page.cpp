#include "gui/pages/page.hpp"

#include "gui/models/words.hpp"
#include "suite/base/encoding.hpp"

namespace assay::gui {

void Page::open(const std::string& argument) {
    argument_ = argument;
    forget();
}

QString Page::command(const std::string& words) const {
    const bool usual = context_.database == store::default_path();
    return text("assay " + words +
                (usual ? "" : " --db " + shell_quoted(context_.database.string())));
}

}  // namespace assay::gui
