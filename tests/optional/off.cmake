# See CMakeLists.txt.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${code}): ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_BUILD_TYPE=Debug -DRML_BUILD_TESTS=OFF -DRML_ONEDNN=OFF)
run(${CMAKE_COMMAND} --build ${WORK} --target
  rml/providers/all/CMakeFiles/rml_providers_all.dir/all_providers.cc.o)
file(READ ${WORK}/cmake/rmlConfig.cmake package)
if(package MATCHES "DNNL|OpenMP")
  message(FATAL_ERROR "the package asks for ${CMAKE_MATCH_0}, and RML_ONEDNN is OFF")
endif()
