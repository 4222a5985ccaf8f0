# Writes OUTPUT from TEMPLATE with the build id of MODULE; leaves it alone when nothing changed.
execute_process(COMMAND "${READELF}" --notes "${MODULE}" OUTPUT_VARIABLE notes
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT notes MATCHES "Build ID: ([0-9a-f]+)")
    message(FATAL_ERROR "${MODULE} has no build id")
endif()
set(ASSAY_BUILD_ID "${CMAKE_MATCH_1}")
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
