set(STEIN_INCLUDE_LINKS ${CMAKE_BINARY_DIR}/include CACHE PATH
  "Folder of the links that includes go through; builds that share it share what ccache has compiled")

# stein_library(<folder> [DEPENDS <folder>…] [PUBLIC_LIBRARIES …] [PRIVATE_LIBRARIES …] [PRIVATE_HEADERS <regex>…]
#               [EXPORT <set>] [NO_HEADERS])
#
# One folder of the tree is one shared library `stein::<folder>`; it links only the folders that its arrow allows, so a
# wrong include does not build. Shared, because environments, policies and samplers register themselves when their
# library is loaded, and a static archive would drop objects that nobody names. All libraries lie in one folder, where
# core/component.h finds those that are loaded only when they are needed.
#
# Headers are public and installed, but for kernels (fused/, *-inl.h) and what PRIVATE_HEADERS matches. With NO_HEADERS none
# are, and find_package(stein) does not know the library: it is the program's own.
function(stein_library folder)
  cmake_parse_arguments(LIB "NO_HEADERS" "EXPORT" "DEPENDS;PUBLIC_LIBRARIES;PRIVATE_LIBRARIES;PRIVATE_HEADERS" ${ARGN})
  if(NOT LIB_EXPORT)
    set(LIB_EXPORT stein)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  file(GLOB parts CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(part IN LISTS parts)  # a folder with a CMakeLists.txt of its own is a library of its own
    get_filename_component(part ${part} DIRECTORY)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${part}/")
  endforeach()
  add_library(stein_${folder} SHARED ${sources})
  add_library(stein::${folder} ALIAS stein_${folder})
  stein_unity_build(stein_${folder})
  set_target_properties(stein_${folder} PROPERTIES EXPORT_NAME ${folder} OUTPUT_NAME stein_${folder} VERSION ${PROJECT_VERSION})

  # <stein/core/rng.h> resolves through a link to this folder, one link a target: only what is depended on can be included.
  set(prefix ${STEIN_INCLUDE_LINKS}/${folder})
  file(MAKE_DIRECTORY ${prefix}/stein)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${prefix}/stein/${folder} SYMBOLIC)
  target_include_directories(stein_${folder} PUBLIC $<BUILD_INTERFACE:${prefix}> $<INSTALL_INTERFACE:include>)

  foreach(dependency IN LISTS LIB_DEPENDS)
    target_link_libraries(stein_${folder} PUBLIC stein_${dependency})
  endforeach()
  target_link_libraries(stein_${folder} PUBLIC ${LIB_PUBLIC_LIBRARIES} PRIVATE ${LIB_PRIVATE_LIBRARIES} $<BUILD_INTERFACE:stein_warnings>)
  target_compile_features(stein_${folder} PUBLIC cxx_std_20)
  target_link_options(stein_${folder} INTERFACE "LINKER:--no-as-needed")

  if(LIB_NO_HEADERS)
    install(TARGETS stein_${folder} LIBRARY DESTINATION lib)
    return()
  endif()
  install(TARGETS stein_${folder} EXPORT ${LIB_EXPORT} LIBRARY DESTINATION lib)
  set(private PATTERN "*-inl.h" EXCLUDE PATTERN fused EXCLUDE)
  foreach(regex IN LISTS LIB_PRIVATE_HEADERS)
    list(APPEND private REGEX "${regex}" EXCLUDE)
  endforeach()
  install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/ DESTINATION include/stein/${folder} FILES_MATCHING ${private} PATTERN "*.h" PATTERN "*.inc")
endfunction()

# stein_report_scripts(<folder> <script>…): the JavaScript of report pages, each as a string that a source of stein_<folder>
# takes in with `#include "<script>.inc"`.
function(stein_report_scripts folder)
  foreach(script IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${script})
    file(READ ${script} text)
    file(CONFIGURE OUTPUT report_scripts/${script}.inc CONTENT "R\"script(@text@)script\"" @ONLY)
  endforeach()
  target_include_directories(stein_${folder} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/report_scripts)
endfunction()
