# libcsv as one imported target `LibCSV::LibCSV`: the distribution's package brings no file for CMake or pkg-config.
find_path(LibCSV_INCLUDE_DIR csv.h)
find_library(LibCSV_LIBRARY csv)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibCSV REQUIRED_VARS LibCSV_LIBRARY LibCSV_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "no libcsv: run scripts/setup, or install libcsv-dev")

if(LibCSV_FOUND AND NOT TARGET LibCSV::LibCSV)
  add_library(LibCSV::LibCSV INTERFACE IMPORTED)
  target_include_directories(LibCSV::LibCSV SYSTEM INTERFACE ${LibCSV_INCLUDE_DIR})
  target_link_libraries(LibCSV::LibCSV INTERFACE ${LibCSV_LIBRARY})
endif()
