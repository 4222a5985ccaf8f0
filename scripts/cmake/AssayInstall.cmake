# cmake --install. Programs lie in a folder of their own, with the modules and the benchmarks that
# they look for beside them; bin/ has links to those that people call.
include(GNUInstallDirs)
if(NOT TARGET assay OR ASSAY_FUZZ)
    return()
endif()
set(folder "${CMAKE_INSTALL_LIBDIR}/assay")

# What opens or starts what: nothing of it is needed by all. Benchmarks: of datasets/suites.
foreach(target IN ITEMS assay assay_tensors assay_simgrid_module assay_kernels_cuda assay-gui
        assay-foundry-worker kernels_cuda_benchmark kernels_gemv_benchmark lazarus_planner_benchmark store_ingest_benchmark)
    if(NOT TARGET ${target})
        continue()
    endif()
    # Libraries stay where they are. By itself CMake leaves out those below the source tree.
    get_target_property(rpath ${target} BUILD_RPATH)
    if(NOT rpath)
        set(rpath "")
    endif()
    if(ASSAY_HAVE_TORCH AND target MATCHES "tensors|gemv")
        list(APPEND rpath "${ASSAY_TORCH_ROOT}/lib")
    endif()
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "${rpath}" INSTALL_RPATH_USE_LINK_PATH ON)
    set(may_lack OPTIONAL)
    if(target MATCHES "^assay(_tensors)?$")
        set(may_lack)
    endif()
    install(TARGETS ${target} RUNTIME DESTINATION "${folder}" ${may_lack}
            LIBRARY DESTINATION "${folder}" ${may_lack})
endforeach()
if(TARGET foundry_fake_driver)
    install(FILES "$<TARGET_SONAME_FILE:foundry_fake_driver>" DESTINATION "${folder}/fake_driver" OPTIONAL)
endif()
file(RELATIVE_PATH to_folder "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}/assay")
foreach(program IN ITEMS assay assay-gui)
    if(TARGET ${program})
        set(link "${CMAKE_BINARY_DIR}/install/${program}")
        file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/install")
        file(CREATE_LINK "${to_folder}/${program}" "${link}" SYMBOLIC)
        install(FILES "${link}" DESTINATION "${CMAKE_INSTALL_BINDIR}")
    endif()
endforeach()

# The program says what its page says.
set(page "${CMAKE_BINARY_DIR}/install/assay.1")
install(CODE "execute_process(COMMAND \"$<TARGET_FILE:assay>\" man OUTPUT_FILE \"${page}\" COMMAND_ERROR_IS_FATAL ANY)")
install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")

install(DIRECTORY datasets DESTINATION "${CMAKE_INSTALL_DATADIR}/assay")
install(FILES LICENSE NOTICE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
set(completions "${CMAKE_CURRENT_SOURCE_DIR}/scripts/completions")
install(FILES "${completions}/assay.bash" RENAME assay
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES "${completions}/_assay" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
install(FILES "${completions}/assay.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
