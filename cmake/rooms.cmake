# A room sees itself and the rooms it names, and nothing above it: each room gets a folder of links
# to just those rooms as its include path, so that an upward include does not compile.
#
# All .cpp files of the folder and its subfolders belong to the room, except `main/`, which holds the
# program and not the room. An empty room (one whose work lies ahead) is an empty library.
function(railyard_room name)
  cmake_parse_arguments(M "" "" "SEES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/src/${name}/main/")
  if(NOT sources)
    file(TOUCH ${CMAKE_BINARY_DIR}/empty_room.cpp)
    set(sources ${CMAKE_BINARY_DIR}/empty_room.cpp)
  endif()
  add_library(railyard_${name} STATIC ${sources})
  set(view ${CMAKE_BINARY_DIR}/view/${name})
  file(MAKE_DIRECTORY ${view})
  foreach(seen ${name} ${M_SEES})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${seen} ${view}/${seen} SYMBOLIC)
    if(NOT seen STREQUAL name)
      target_link_libraries(railyard_${name} PUBLIC railyard_${seen})
    endif()
  endforeach()
  target_include_directories(railyard_${name} PRIVATE ${view})
endfunction()
