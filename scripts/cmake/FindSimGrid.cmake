# SimGrid, which has no CMake package of its own: the target SimGrid::SimGrid, SimGrid_VERSION.
# Headers: a system's, or those that scripts/dependencies puts into .deps/simgrid. The library of their
# version: libsimgrid.so of a development package, or that of the run-time package alone, which has no
# such link. Boost's headers are needed too.
find_path(ASSAY_SIMGRID_INCLUDE simgrid/s4u.hpp HINTS "${CMAKE_SOURCE_DIR}/.deps/simgrid/include")
find_path(ASSAY_SIMGRID_BOOST boost/intrusive_ptr.hpp)
if(ASSAY_SIMGRID_INCLUDE AND EXISTS "${ASSAY_SIMGRID_INCLUDE}/simgrid/version.h")
    file(STRINGS "${ASSAY_SIMGRID_INCLUDE}/simgrid/version.h" lines
         REGEX "#define SIMGRID_VERSION_(MAJOR|MINOR) +[0-9]+")
    string(REGEX REPLACE "[^0-9;]" "" lines "${lines}")
    string(REPLACE ";" "." SimGrid_VERSION "${lines}")
endif()
find_library(ASSAY_SIMGRID_LIBRARY NAMES "libsimgrid.so.${SimGrid_VERSION}")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SimGrid
    REQUIRED_VARS ASSAY_SIMGRID_LIBRARY ASSAY_SIMGRID_INCLUDE ASSAY_SIMGRID_BOOST SimGrid_VERSION
    VERSION_VAR SimGrid_VERSION)
if(SimGrid_FOUND AND NOT TARGET SimGrid::SimGrid)
    add_library(SimGrid::SimGrid INTERFACE IMPORTED)
    target_include_directories(SimGrid::SimGrid INTERFACE "${ASSAY_SIMGRID_INCLUDE}")
    target_link_libraries(SimGrid::SimGrid INTERFACE "${ASSAY_SIMGRID_LIBRARY}")
endif()
