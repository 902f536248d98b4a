# The toolchain file of a build for Arm processors by Debian's cross compiler, on another machine; `./dev arm` uses it.
# CMAKE_SYSROOT is a folder with the arm64 libraries, qemu-aarch64 runs what is built with them. The loader and the C
# library of a run must come from one place: with those of two versions of Debian's glibc the first thread never starts.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Neither the compiler wrappers of Open MPI nor the descriptions for pkg-config are those of this machine.
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(openmpi ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/openmpi)
set(MPI_SKIP_COMPILER_WRAPPER ON)
set(MPI_CXX_SKIP_MPICXX ON CACHE BOOL "")
foreach(language C CXX)
  set(MPI_${language}_HEADER_DIR ${openmpi}/include CACHE PATH "")
  set(MPI_${language}_LIB_NAMES mpi CACHE STRING "")
endforeach()
set(MPI_mpi_LIBRARY ${openmpi}/lib/libmpi.so CACHE FILEPATH "")
