# libstemmer (Snowball) as one imported target `LibStemmer::LibStemmer`: the distribution's package brings no file for CMake or
# pkg-config.
find_path(LibStemmer_INCLUDE_DIR libstemmer.h)
find_library(LibStemmer_LIBRARY stemmer)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibStemmer REQUIRED_VARS LibStemmer_LIBRARY LibStemmer_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "no libstemmer: run scripts/setup, or install libstemmer-dev")

if(LibStemmer_FOUND AND NOT TARGET LibStemmer::LibStemmer)
  add_library(LibStemmer::LibStemmer INTERFACE IMPORTED)
  target_include_directories(LibStemmer::LibStemmer SYSTEM INTERFACE ${LibStemmer_INCLUDE_DIR})
  target_link_libraries(LibStemmer::LibStemmer INTERFACE ${LibStemmer_LIBRARY})
endif()
