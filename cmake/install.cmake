# `cmake --install`: the program, the libraries with their headers, and a package config for find_package(Staghorn).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# With BUILD_SHARED_LIBS=ON the program and the libraries find libstaghorn_core.so beside them, wherever that is.
file(RELATIVE_PATH path_to_libraries /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(staghorn PROPERTIES INSTALL_RPATH "$ORIGIN/${path_to_libraries}")
install(TARGETS staghorn RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Types of C++ may change with every minor version.
set_target_properties(staghorn_core PROPERTIES EXPORT_NAME core INSTALL_RPATH "$ORIGIN" VERSION ${PROJECT_VERSION}
                                               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
install(TARGETS staghorn_core EXPORT StaghornCoreTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
include(cmake/installed_headers.cmake)
foreach(header ${staghorn_public_headers} ${staghorn_included_headers})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/staghorn/${folder})
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Staghorn)
install(EXPORT StaghornCoreTargets NAMESPACE Staghorn:: DESTINATION ${package_folder})

# What the package asks for: a shared library brings what it links, a static one does not.
get_target_property(library_type staghorn_core TYPE)
set(staghorn_is_static OFF)
set(staghorn_needs_cuda OFF)
if(library_type STREQUAL "STATIC_LIBRARY")
  set(staghorn_is_static ON)
endif()
if(STAGHORN_WITH_CUDA)
  set(staghorn_needs_cuda ON)
endif()

# The C interface: Staghorn::staghorn, without the dependencies of the C++ library.
# Staghorn::staghorn_milc is for MILC; its headers have the names of QUDA's, and a folder of their own.
set_target_properties(staghorn_interface PROPERTIES EXPORT_NAME staghorn INSTALL_RPATH "$ORIGIN")
set_target_properties(staghorn_milc PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS staghorn_interface staghorn_milc EXPORT StaghornTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES solver/interface/milc/quda.h solver/interface/milc/quda_milc_interface.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/staghorn_milc)
install(FILES solver/interface/staghorn.h solver/interface/staghorn.f90 solver/interface/cps/staghorn_cps.hpp
              solver/interface/cps/staghorn_cps_connection.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(STAGHORN_WITH_MPI)
  install(FILES solver/interface/staghorn_mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
else()
  install(FILES halo/one_process/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/staghorn/halo/one_process)
endif()
install(FILES docs/guide/report.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/staghorn)
install(EXPORT StaghornTargets NAMESPACE Staghorn:: DESTINATION ${package_folder})
configure_package_config_file(cmake/StaghornConfig.cmake.in ${CMAKE_BINARY_DIR}/StaghornConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/StaghornConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/StaghornConfig.cmake ${CMAKE_BINARY_DIR}/StaghornConfigVersion.cmake
        DESTINATION ${package_folder})
file(RELATIVE_PATH path_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" path_to_prefix "${path_to_prefix}")
foreach(name staghorn staghorn_milc)
  configure_file(cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/staghorn.pc ${CMAKE_BINARY_DIR}/staghorn_milc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
