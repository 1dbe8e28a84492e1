# LibTorch as one imported target `LibTorch::LibTorch`, made from the folder of the pinned wheel (or the user's own build).
# The wheel's TorchConfig.cmake needs a CUDA toolkit and edits global flags, so it is not used.
#
#   STEIN_LIBTORCH   folder that holds include/, lib/ and, where scripts/setup made it, cuda/ (the CUDA libraries that
#                    LibTorch's own name as needed); default: .deps/libtorch of the source tree
set(STEIN_LIBTORCH "${PROJECT_SOURCE_DIR}/.deps/libtorch" CACHE PATH "LibTorch folder (holds include/ and lib/)")

find_path(LibTorch_INCLUDE_DIR torch/csrc/api/include/torch/torch.h PATHS ${STEIN_LIBTORCH}/include NO_DEFAULT_PATH)
find_library(LibTorch_LIBRARY torch_cpu PATHS ${STEIN_LIBTORCH}/lib NO_DEFAULT_PATH)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_LIBRARY LibTorch_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "no LibTorch at '${STEIN_LIBTORCH}': run scripts/setup, or pass -DSTEIN_LIBTORCH=DIR")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  get_filename_component(_torch_lib ${LibTorch_LIBRARY} DIRECTORY)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  # Searched last: the wheel brings headers of other libraries (its own fmt) that must not hide the system's.
  target_compile_options(LibTorch::LibTorch INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-idirafter ${LibTorch_INCLUDE_DIR}>"
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-idirafter ${LibTorch_INCLUDE_DIR}/torch/csrc/api/include>")

  # The CUDA half is absent where scripts/setup found neither a toolkit nor a driver. --no-as-needed keeps it although no
  # symbol of it is named: it registers its kernels when it is loaded.
  set(_torch_files "")
  foreach(_name torch torch_cpu c10 torch_cuda c10_cuda)
    if(EXISTS ${_torch_lib}/lib${_name}.so)
      list(APPEND _torch_files ${_torch_lib}/lib${_name}.so)
    endif()
  endforeach()

  # Old-style rpath tags: unlike the new ones they also hold for what LibTorch's libraries need in turn.
  set(_torch_options "LINKER:--no-as-needed" "LINKER:--disable-new-dtags")
  foreach(_dir ${_torch_lib} ${STEIN_LIBTORCH}/cuda)
    if(IS_DIRECTORY ${_dir})
      list(APPEND _torch_options "LINKER:-rpath,${_dir}" "LINKER:-rpath-link,${_dir}")
    endif()
  endforeach()
  target_link_options(LibTorch::LibTorch INTERFACE ${_torch_options})
  target_link_libraries(LibTorch::LibTorch INTERFACE ${_torch_files})
endif()
