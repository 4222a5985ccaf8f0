# Part of the offline bundle (scripts/offline-bundle): makes a build find the libraries beside this file,
# and libtorch in the torch of python3.
#   cmake --preset cuda -C BUNDLE/assay-offline.cmake
get_filename_component(bundle "${CMAKE_CURRENT_LIST_DIR}" ABSOLUTE)
set(libraries "${bundle}/lib/x86_64-linux-gnu")

set(CMAKE_PREFIX_PATH "${bundle}" CACHE PATH "Offline bundle")
set(CMAKE_INCLUDE_PATH "${bundle}/include" CACHE PATH "Offline bundle")
set(CMAKE_LIBRARY_PATH "${libraries}" CACHE PATH "Offline bundle")
# One by one: only Debian's relatives look into lib/x86_64-linux-gnu by themselves.
foreach(package GTest SQLiteCpp benchmark fmt spdlog tomlplusplus)
    set(${package}_DIR "${libraries}/cmake/${package}" CACHE PATH "Offline bundle")
endforeach()
foreach(package CLI11 nlohmann_json)
    set(${package}_DIR "${bundle}/share/cmake/${package}" CACHE PATH "Offline bundle")
endforeach()
# What is in /usr/include elsewhere and needs no target: Boost.Math, ZeroMQ, Gloo; and the part of
# OpenSSL's headers that Debian keeps beside the others.
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES "${bundle}/include;${bundle}/include/x86_64-linux-gnu"
    CACHE STRING "Offline bundle")

# Programs run where they were built. With the older kind of tag the path also serves the libraries
# that libraries need.
set(CMAKE_BUILD_RPATH "${libraries}" CACHE STRING "Offline bundle")
foreach(kind EXE SHARED MODULE)
    set(CMAKE_${kind}_LINKER_FLAGS "-Wl,--disable-new-dtags -Wl,-rpath-link,${libraries}"
        CACHE STRING "Offline bundle")
endforeach()

if(NOT ASSAY_TORCH_ROOT)
    execute_process(
        COMMAND python3 -c "import importlib.util as u; print(*u.find_spec('torch').submodule_search_locations)"
        OUTPUT_VARIABLE torch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0 AND EXISTS "${torch}/lib/libtorch_cpu.so")
        set(ASSAY_TORCH_ROOT "${torch}" CACHE PATH "Folder with include/ and lib/ of libtorch")
    else()
        message(STATUS "assay: python3 has no torch here; -D ASSAY_TORCH_ROOT=FOLDER names a libtorch")
    endif()
endif()
