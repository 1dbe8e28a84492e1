# Compiler settings that hold for the whole project: warnings, the compiler cache, the linker.
add_library(stein_warnings INTERFACE)
# A designated initialiser names what differs from the defaults; the fields it leaves out are not missing.
target_compile_options(stein_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion;-Wno-missing-field-initializers>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns of std::string copies inside libstdc++ that cannot overlap.
  target_compile_options(stein_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>")
endif()

# The same bits on every machine: a multiply-add is one only where the source says so.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>")

find_program(STEIN_CCACHE ccache)
if(STEIN_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${STEIN_CCACHE})
endif()

find_program(STEIN_MOLD mold)
find_program(STEIN_LLD ld.lld)
if(STEIN_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(STEIN_LLD)
  add_link_options(-fuse-ld=lld)
endif()
