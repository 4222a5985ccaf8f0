// What a figure of lines or bars shows, before anything is drawn: samples sorted into panels,
// curves and points, with the paper's values beside them.
//
// Whatever varies and is neither x nor the variant splits panels, profile, provenance and fault
// plan included, and machine, calibration and data where they are not comparable, so that no curve
// ever mixes numbers that came to be in different ways.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "suite/claim/claim.hpp"
#include "suite/store/records.hpp"

namespace assay::report {

struct FigurePoint {
    double x = 0;  ///< the value, or the index into FigureData::categories
    double median = 0, low = 0, high = 0;
    std::size_t count = 0;  ///< values behind it: seeds and rounds
    double drawn_at = 0;    ///< its place on the axis: Figure::drawn_at's median, else x
};

struct PaperPoint {
    double x = 0;
    double value = 0;
    std::string claim;   ///< id
    std::string inputs;  ///< where it is about other data than ours: "its trace: a, ours: b"
};

/// What one variant shows in a panel: a curve, or bars.
struct FigureCurve {
    std::string variant;
    std::size_t slot = 0;             ///< of colour and shape
    std::vector<FigurePoint> points;  ///< ascending x
    std::vector<PaperPoint> paper;
};

struct FigurePanel {
    std::string title;  ///< what sets it apart: "gpt-l · step 200"; empty for a single panel
    std::string badge;  ///< "exact · toy"
    std::vector<FigureCurve> curves;  ///< as variants are declared
};

struct FigureData {
    std::vector<FigurePanel> panels;
    std::vector<std::string> categories;  ///< not empty: x is categorical
    std::string fixed;             ///< axes that have one value everywhere: "nodes 10 · slots 6"
    std::size_t last_split = 1;    ///< values of the innermost splitting axis; decides the columns
    bool shares_variants = false;  ///< x is the variant: a legend would repeat the categories
    std::vector<std::string> variants;       ///< present ones, as declared
    std::vector<std::size_t> variant_slots;  ///< theirs; "slots" alone is a word of Qt
    bool has_paper = false;
    std::string paper_inputs;  ///< what PaperPoint::inputs say, each once, for the legend
};

/// Metric values that are not finite are left out, as are samples whose status is not ok.
FigureData figure_data(const Experiment&, std::span<const store::Sample>, std::span<const Claim>);

}  // namespace assay::report
