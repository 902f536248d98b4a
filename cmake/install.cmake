# `cmake --install`: the program, the library with its headers, and a package config for find_package(staghorn).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET staghorn)
  install(TARGETS staghorn RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
set_target_properties(staghorn_core PROPERTIES EXPORT_NAME core)
install(TARGETS staghorn_core EXPORT staghornTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(folder halo dirac lattice_io solver)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/staghorn FILES_MATCHING PATTERN "*.hpp")
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/staghorn)
install(EXPORT staghornTargets NAMESPACE staghorn:: DESTINATION ${package_folder})
if(STAGHORN_WITH_CUDA)
  set(staghorn_needs_cuda ON)
else()
  set(staghorn_needs_cuda OFF)
endif()
configure_package_config_file(cmake/staghornConfig.cmake.in ${CMAKE_BINARY_DIR}/staghornConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/staghornConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/staghornConfig.cmake ${CMAKE_BINARY_DIR}/staghornConfigVersion.cmake
        DESTINATION ${package_folder})
