# stein_library(<folder> [DEPENDS <folder>…] [PRIVATE_LIBRARIES …] [PUBLIC_LIBRARIES …])
#
# One folder of the tree is one shared library `stein::<folder>`; it links only the folders that its arrow allows, so a
# wrong include does not build. Shared, because environments, policies and samplers register themselves when their
# library is loaded, and a static archive would drop objects that nobody names.
function(stein_library folder)
  cmake_parse_arguments(LIB "" "" "DEPENDS;PUBLIC_LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(stein_${folder} SHARED ${sources})
  add_library(stein::${folder} ALIAS stein_${folder})
  set_target_properties(stein_${folder} PROPERTIES EXPORT_NAME ${folder} OUTPUT_NAME stein_${folder} VERSION ${PROJECT_VERSION})

  # <stein/core/rng.h> resolves through a link to this folder, one link a target: only what is depended on can be included.
  set(prefix ${CMAKE_BINARY_DIR}/include/${folder})
  file(MAKE_DIRECTORY ${prefix}/stein)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${prefix}/stein/${folder} SYMBOLIC)
  target_include_directories(stein_${folder} PUBLIC $<BUILD_INTERFACE:${prefix}> $<INSTALL_INTERFACE:include>)

  foreach(dependency IN LISTS LIB_DEPENDS)
    target_link_libraries(stein_${folder} PUBLIC stein_${dependency})
  endforeach()
  target_link_libraries(stein_${folder} PUBLIC ${LIB_PUBLIC_LIBRARIES} PRIVATE ${LIB_PRIVATE_LIBRARIES} $<BUILD_INTERFACE:stein_warnings>)
  target_compile_features(stein_${folder} PUBLIC cxx_std_20)
  target_link_options(stein_${folder} INTERFACE "LINKER:--no-as-needed")

  install(TARGETS stein_${folder} EXPORT stein LIBRARY DESTINATION lib)
  install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/ DESTINATION include/stein/${folder} FILES_MATCHING PATTERN "*.h")
endfunction()
