# MuJoCo as one imported target `MuJoCo::MuJoCo`, made from a folder that is laid out as MuJoCo's own releases are.
#
#   STEIN_MUJOCO   folder that holds include/mujoco/ and lib/; default: .deps/mujoco of the source tree, which scripts/setup
#                  makes from the pinned wheel
set(STEIN_MUJOCO "${PROJECT_SOURCE_DIR}/.deps/mujoco" CACHE PATH "MuJoCo folder (holds include/mujoco/ and lib/)")

find_path(MuJoCo_INCLUDE_DIR mujoco/mujoco.h PATHS ${STEIN_MUJOCO}/include NO_DEFAULT_PATH)
find_library(MuJoCo_LIBRARY mujoco PATHS ${STEIN_MUJOCO}/lib NO_DEFAULT_PATH)
if(MuJoCo_INCLUDE_DIR)
  # 3010000 is 3.10.0.
  file(STRINGS ${MuJoCo_INCLUDE_DIR}/mujoco/mujoco.h _mujoco_number REGEX "#define mjVERSION_HEADER [0-9]+")
  string(REGEX REPLACE "[^0-9]" "" _mujoco_number "${_mujoco_number}")
  math(EXPR _mujoco_major "${_mujoco_number} / 1000000")
  math(EXPR _mujoco_minor "${_mujoco_number} / 1000 % 1000")
  math(EXPR _mujoco_patch "${_mujoco_number} % 1000")
  set(MuJoCo_VERSION ${_mujoco_major}.${_mujoco_minor}.${_mujoco_patch})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MuJoCo REQUIRED_VARS MuJoCo_LIBRARY MuJoCo_INCLUDE_DIR VERSION_VAR MuJoCo_VERSION
  REASON_FAILURE_MESSAGE "no MuJoCo at '${STEIN_MUJOCO}': run scripts/setup, or pass -DSTEIN_MUJOCO=DIR")

if(MuJoCo_FOUND AND NOT TARGET MuJoCo::MuJoCo)
  # An interface, not a library of its own: what is installed then names the file alone, and needs no such target.
  add_library(MuJoCo::MuJoCo INTERFACE IMPORTED)
  get_filename_component(_mujoco_lib ${MuJoCo_LIBRARY} DIRECTORY)
  target_include_directories(MuJoCo::MuJoCo SYSTEM INTERFACE ${MuJoCo_INCLUDE_DIR})
  # Leaves out mjsan.h, which GCC refuses under -fsanitize=address; it is for a MuJoCo that is itself built so.
  target_compile_definitions(MuJoCo::MuJoCo INTERFACE MUJOCO_INCLUDE_MJSAN_H_)
  target_link_options(MuJoCo::MuJoCo INTERFACE "LINKER:-rpath,${_mujoco_lib}")
  target_link_libraries(MuJoCo::MuJoCo INTERFACE ${MuJoCo_LIBRARY})
endif()
