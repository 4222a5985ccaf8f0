// One of the window's views: it knows how to read what it shows, and shows it.
#pragma once

#include <QString>
#include <QWidget>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "gui/data/reader.hpp"
#include "gui/views/location.hpp"
#include "suite/experiment/system.hpp"
#include "suite/report/figures/plot.hpp"

class QTableView;

namespace assay::gui {

class PlotPane;

/// What every page works with.
struct PageContext {
    Reader& reader;
    std::shared_ptr<const Registry> registry;
    std::filesystem::path database;
};

/// The reader's questions of the view that is open; obsolete as soon as one goes elsewhere.
inline const QString view_topic = QStringLiteral("view");

class Page : public QWidget {
    Q_OBJECT
  public:
    explicit Page(PageContext context) : context_(std::move(context)) {}

    /// Forgets what was shown. `argument`: of its Location.
    void open(const std::string& argument);
    /// Asks for what is to be shown, anew.
    virtual void refresh() = 0;
    /// What it asked of others than the reader is answered.
    virtual bool settled() const { return true; }
    virtual PlotPane* pane() const { return nullptr; }  ///< null: it has no plot
    virtual QTableView* table() const = 0;              ///< the one that is exported
    virtual QString name() const { return {}; }         ///< of what is shown, for files
    virtual void set_theme(report::Theme) {}

  Q_SIGNALS:
    void wanted(const Location& location);          ///< one wants to go there
    void looked_at(const std::string& experiment);  ///< what is shown is of this one
    void told(const QString& notice);               ///< a sentence; empty: it is over
    void settled_now();                             ///< settled() has become true

  protected:
    virtual void forget() = 0;
    const std::string& argument() const { return argument_; }
    const PageContext& context() const { return context_; }
    /// "assay WORDS", with the database where it is not the usual one.
    QString command(const std::string& words) const;
    template <class Query, class Show>
    void ask(Query query, Show show) {
        context_.reader.ask(view_topic, std::move(query), std::move(show));
    }

  private:
    PageContext context_;
    std::string argument_;
};

Page* make_figure_page(const PageContext& context);
Page* make_compare_page(const PageContext& context);
Page* make_timeline_page(const PageContext& context);
Page* make_history_page(const PageContext& context);

}  // namespace assay::gui
