# sheaf_library(NAME DEPS … [PRIVATE_DEPS …]): the current folder as one library, one layer. All *.cc below it belong
# to it. Headers are included as "layer/file.h".
function(sheaf_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;PRIVATE_DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  if(sources)
    add_library(${name} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(${name} PRIVATE "$<BUILD_INTERFACE:sheaf_flags>" ${ARG_PRIVATE_DEPS})
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope} "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>"
                                              "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>")
  target_link_libraries(${name} ${scope} ${ARG_DEPS})
endfunction()

# sheaf_test(NAME DEPS … [TIMEOUT seconds]): all *_test.cc of the current folder as one GoogleTest program and one
# ctest entry. Other *.cc beside them are linked in as support.
function(sheaf_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE sheaf_flags ${ARG_DEPS} GTest::gtest_main GTest::gmock)
  target_compile_definitions(${name} PRIVATE SHEAF_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                             SHEAF_BINARY_DIR="${CMAKE_BINARY_DIR}"
                                             SHEAF_VENV_PYTHON="${SHEAF_VENV}/bin/python")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()
