# Writes OUTPUT from TEMPLATE with the commit of SOURCE; leaves it alone when nothing changed.
# A tree without git (a release archive) yields an empty commit. Takes no lock of the repository, so
# that a build never disturbs a commit being made.
set(ASSAY_COMMIT "")
if(GIT)
    set(git "${GIT}" --no-optional-locks -c "safe.directory=*")
    execute_process(COMMAND ${git} rev-parse --short=12 HEAD WORKING_DIRECTORY "${SOURCE}"
                    OUTPUT_VARIABLE ASSAY_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${git} status --porcelain --untracked-files=no
                    WORKING_DIRECTORY "${SOURCE}" OUTPUT_VARIABLE changes ERROR_QUIET)
    if(ASSAY_COMMIT AND changes)
        string(APPEND ASSAY_COMMIT "-dirty")
    endif()
endif()
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
