# A fresh build in half the time: sources of a library or of a test program are compiled several at a time, and what they include
# once. For machines that build once; where one source changes, its whole group is compiled anew.
option(STEIN_UNITY_BUILD "Compile the sources of libraries and of test programs in groups" OFF)

# stein_unity_build(<target>): so where it is asked for. Kernels are left out: they include themselves once a SIMD target.
function(stein_unity_build target)
  if(NOT STEIN_UNITY_BUILD)
    return()
  endif()
  # Every source that registers something holds the outcome under the same name.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10 UNITY_BUILD_UNIQUE_ID STEIN_THIS_SOURCE
    UNITY_BUILD_CODE_BEFORE_INCLUDE "#define registered STEIN_THIS_SOURCE" UNITY_BUILD_CODE_AFTER_INCLUDE "#undef registered")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU") # which takes a source that is included for a header
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    file(STRINGS ${source} kernels REGEX "foreach_target" LIMIT_COUNT 1)
    if(kernels)
      set_property(SOURCE ${source} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# stein_unity_build_of_tests(<target>): the same of a test program, whose sources are larger; after all that it links. A local of one
# source may have the name that another has in its anonymous namespace: of what is shadowed, locals alone are told of.
add_library(stein_grouped_tests INTERFACE)
target_compile_options(stein_grouped_tests INTERFACE -Wno-shadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU") # whose collector of garbage takes a tenth of the time where it has little room
  target_compile_options(stein_grouped_tests INTERFACE -Wshadow=local --param=ggc-min-expand=200 --param=ggc-min-heapsize=600000)
endif()

function(stein_unity_build_of_tests target)
  if(NOT STEIN_UNITY_BUILD)
    return()
  endif()
  stein_unity_build(${target})
  # What is registered once in a header's function must be one thing in every group.
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 6
    UNITY_BUILD_UNIQUE_ID "" UNITY_BUILD_CODE_BEFORE_INCLUDE "" UNITY_BUILD_CODE_AFTER_INCLUDE "")
  target_link_libraries(${target} PRIVATE stein_grouped_tests)
endfunction()
