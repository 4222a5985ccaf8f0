// LTE's experiments, one function each; the files of this folder name their figures.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::lte {

// Arithmetic, and kernels timed.
Experiment tab1();
Experiment fig8();
Experiment fig8b();  ///< at profile gpu with libtorch

// Models are trained, with libtorch.
Experiment fig2();
Experiment fig3();
Experiment fig5();
Experiment fig6();
Experiment fig7();
Experiment fig9();
Experiment fig10();
Experiment fig11();
Experiment fig12();
Experiment fig13();
Experiment fig14();
Experiment fig15();
Experiment fig16();
Experiment tab2();
Experiment x_schedule();
Experiment x_smollm2();
Experiment x_routers();
Experiment x_product();

}  // namespace assay::lte
