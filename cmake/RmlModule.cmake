# The functions with which the folders describe themselves.
include(RmlDependencies)

# rml_add_module(NAME [DEPS module...] [OPTIONAL_DEPS module...] [LIBS third-party target...]
#                [TEST_LIBS third-party target...])
#
# One static library per folder under rml/, from every .cc in it (its subfolders too) but the tests
# and programs, and one test program from its *_test.cc files. DEPS name modules; LIBS stay private,
# since no third-party type appears in a public header, and are found by rml_find_dependency. Of
# OPTIONAL_DEPS those are linked that are part of this build; the sources see RML_HAS_NAME (0 or 1).
function(rml_add_module name)
  cmake_parse_arguments(ARG "" "" "DEPS;OPTIONAL_DEPS;LIBS;TEST_LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  # Files named after an instruction set belong to the architecture that has it.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(FILTER sources EXCLUDE REGEX "_neon\\.cc$")
  else()
    list(FILTER sources EXCLUDE REGEX "_avx(2|512[a-z0-9]*)\\.cc$")
  endif()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$|_main\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(NOT sources)
    return()
  endif()
  rml_private_libs(libs link_only ${ARG_LIBS})
  set_property(GLOBAL PROPERTY RML_LINK_DEPENDENCIES_${name} ${link_only})

  add_library(rml_${name} STATIC ${sources})
  add_library(rml::${name} ALIAS rml_${name})
  set_target_properties(rml_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(rml_${name} PUBLIC cxx_std_20)
  target_include_directories(rml_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM ARG_DEPS PREPEND rml_ OUTPUT_VARIABLE deps)
  target_link_libraries(rml_${name} PUBLIC ${deps} PRIVATE $<BUILD_INTERFACE:rml_flags> ${libs})
  foreach(dep IN LISTS ARG_OPTIONAL_DEPS)
    string(TOUPPER RML_HAS_${dep} has)
    target_compile_definitions(rml_${name} PRIVATE ${has}=$<TARGET_EXISTS:rml_${dep}>)
    if(TARGET rml_${dep})
      target_link_libraries(rml_${name} PUBLIC rml_${dep})
    endif()
  endforeach()
  rml_unity(rml_${name})
  set_property(GLOBAL APPEND PROPERTY RML_MODULES ${name})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/rml ${CMAKE_CURRENT_SOURCE_DIR})
  set_property(GLOBAL PROPERTY RML_FOLDER_${name} ${folder})

  if(RML_BUILD_TESTS AND tests)
    foreach(lib IN LISTS ARG_TEST_LIBS)
      rml_find_dependency(${lib})
    endforeach()
    rml_add_test(${name} ${name}_test SOURCES ${tests} LIBS rml_${name} ${ARG_LIBS} ${ARG_TEST_LIBS})
  endif()
endfunction()

# rml_add_test(NAME PROGRAM SOURCES file... LIBS target... [ARGS argument...])
# A GoogleTest program, and the ctest entry that runs it.
function(rml_add_test name program)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;ARGS" ${ARGN})
  add_executable(${program} ${ARG_SOURCES})
  target_link_libraries(${program} PRIVATE ${ARG_LIBS} rml_test_flags GTest::gmock GTest::gtest_main)
  rml_unity(${program})
  target_compile_definitions(${program} PRIVATE RML_TESTDATA="${PROJECT_SOURCE_DIR}/testdata")
  add_test(NAME ${name} COMMAND ${program} ${ARG_ARGS})
  set(timeout 600)
  if(RML_SANITIZE)
    set(timeout 3000)
  endif()
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${RML_TEST_ENVIRONMENT}" TIMEOUT ${timeout})
endfunction()

# rml_unity(TARGET): with RML_UNITY, its files are compiled a dozen at once. So names in unnamed
# namespaces are unique in a module; a file with flags or macros of its own asks to be left out
# (SKIP_UNITY_BUILD_INCLUSION).
function(rml_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${RML_UNITY} UNITY_BUILD_BATCH_SIZE 12)
endfunction()

# rml_add_command(NAME [SOURCES file...] [DEPS module...] [LIBS third-party target...])
#
# An installed program: target NAME, file bin/NAME. SOURCES default to the folder's *_main.cc.
function(rml_add_command name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_main.cc)
  endif()
  if(NOT ARG_SOURCES)
    return()
  endif()
  rml_private_libs(libs link_only ${ARG_LIBS})
  list(TRANSFORM ARG_DEPS PREPEND rml_ OUTPUT_VARIABLE deps)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${deps} ${libs} rml_flags)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# rml_embed(TARGET NAME FILE)
#
# Puts FILE into TARGET's object code with the assembler's .incbin, so no source of its size is ever
# compiled, and writes the header "embedded/NAME.h", which only TARGET sees:
#   namespace rml::embedded { std::span<const std::byte> NAME() noexcept; }
# The bytes are read-only, and aligned to 64 so that a format which aligns to less can be used in place.
function(rml_embed target name file)
  if(NOT TARGET ${target})
    return()
  endif()
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "rml_embed: ${file} is missing; it is to be embedded in ${target} as ${name}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(SHA256 ${file} RML_EMBED_SHA256)  # in the source, so that no compiler cache can miss a change
  set(RML_EMBED_NAME ${name})
  set(RML_EMBED_FILE ${file})
  file(RELATIVE_PATH RML_EMBED_SOURCE ${PROJECT_SOURCE_DIR} ${file})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/embedded.h.in ${folder}/embedded/${name}.h @ONLY)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/embedded.cc.in ${folder}/embedded/${name}.cc @ONLY)
  set_source_files_properties(${folder}/embedded/${name}.cc PROPERTIES OBJECT_DEPENDS ${file})
  target_sources(${target} PRIVATE ${folder}/embedded/${name}.cc)
  target_include_directories(${target} PRIVATE ${folder})
endfunction()

# Finds the third-party targets. `libs` are the forms in which they are linked: those that are only
# headers do not reach the installed package. `link_only` are those that its users need too.
function(rml_private_libs out_libs out_link_only)
  set(libs "")
  set(link_only "")
  foreach(lib IN LISTS ARGN)
    rml_find_dependency(${lib})
    if(lib IN_LIST RML_HEADER_ONLY_DEPENDENCIES)
      list(APPEND libs $<BUILD_INTERFACE:${lib}>)
    else()
      list(APPEND libs ${lib})
      list(APPEND link_only ${lib})
    endif()
  endforeach()
  set(${out_libs} ${libs} PARENT_SCOPE)
  set(${out_link_only} ${link_only} PARENT_SCOPE)
endfunction()
