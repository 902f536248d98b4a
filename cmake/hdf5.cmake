# The HDF5 library, its C interface: serial if there is a choice. HDF5_ROOT says which of several.
set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 COMPONENTS C)
if(NOT HDF5_FOUND)
  message(FATAL_ERROR "No HDF5 library was found. Please install libhdf5-dev (Debian, Ubuntu), hdf5 (conda, spack, brew) or "
                      "hdf5-devel (Fedora), or say where one is: -DHDF5_ROOT=FOLDER")
elseif(HDF5_VERSION VERSION_LESS 1.10.5)
  message(FATAL_ERROR "HDF5 1.10.5 or newer is needed, found ${HDF5_VERSION} (${HDF5_INCLUDE_DIRS}); -DHDF5_ROOT=FOLDER "
                      "names another one")
elseif(HDF5_IS_PARALLEL AND NOT STAGHORN_WITH_MPI)
  message(FATAL_ERROR "This HDF5 (${HDF5_INCLUDE_DIRS}) needs MPI, and this build has none. -DSTAGHORN_MPI=ON takes both, "
                      "-DHDF5_ROOT=FOLDER names a serial HDF5")
endif()
