# `cmake --install`: headers, static libraries, and a package for find_package(rml).
#
# rml::NAME is a module, rml::rml all of them. No compile flag is exported but the C++ standard;
# private third-party libraries are exported as link-only, and rmlConfig.cmake finds them with the
# same table that the build uses.
include(CMakePackageConfigHelpers)

get_property(modules GLOBAL PROPERTY RML_MODULES)
list(REMOVE_ITEM modules cli)  # the command's own code, no library
set(RML_LINK_DEPENDENCIES "")
foreach(module IN LISTS modules)
  get_property(link_only GLOBAL PROPERTY RML_LINK_DEPENDENCIES_${module})
  list(APPEND RML_LINK_DEPENDENCIES ${link_only})
endforeach()
list(REMOVE_DUPLICATES RML_LINK_DEPENDENCIES)

add_library(rml_all INTERFACE)
add_library(rml::rml ALIAS rml_all)
set_target_properties(rml_all PROPERTIES EXPORT_NAME rml)
list(TRANSFORM modules PREPEND rml_ OUTPUT_VARIABLE targets)
target_link_libraries(rml_all INTERFACE ${targets})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rml)
install(TARGETS rml_all ${targets} EXPORT rmlTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT rmlTargets NAMESPACE rml:: DESTINATION ${package_dir})
foreach(module IN LISTS modules)
  get_property(folder GLOBAL PROPERTY RML_FOLDER_${module})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/rml/${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rml/${folder}
    FILES_MATCHING PATTERN "*.h"
    PATTERN "internal" EXCLUDE PATTERN "testing" EXCLUDE
    REGEX "-inl\\.h$|_test[^/]*$|/test_[^/]*$|_(avx[a-z0-9]*|neon|vnni|amx)\\.h$" EXCLUDE)
endforeach()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/rmlConfig.cmake.in
  ${CMAKE_BINARY_DIR}/cmake/rmlConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/rmlConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cmake/rmlConfig.cmake
  ${CMAKE_BINARY_DIR}/cmake/rmlConfigVersion.cmake ${PROJECT_SOURCE_DIR}/cmake/RmlDependencies.cmake
  DESTINATION ${package_dir})
