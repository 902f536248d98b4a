# The CPU kernels, once for each instruction set; the program chooses at run time. Fewer sets compile faster.
# Included before all other targets, so that ninja starts with the longest.
set(all_instruction_sets baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND all_instruction_sets avx2 avx512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  list(APPEND all_instruction_sets sve256 sve512)
endif()
set(STAGHORN_INSTRUCTION_SETS native CACHE STRING
    "CPU kernels to build: native (the fastest of this machine), all, or some of baseline, avx2, avx512; on Arm of baseline, sve256, sve512")

# Sets `result` to the set whose kernels this machine would choose; to all of them where the program is for another machine.
function(find_native_instruction_set result)
  set(found baseline)
  if(CMAKE_CROSSCOMPILING OR NOT EXISTS /proc/cpuinfo)
    set(found ${all_instruction_sets})
  elseif("avx2" IN_LIST all_instruction_sets)
    file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
    string(REPLACE " " ";" flags "${flags}")
    if("avx2" IN_LIST flags AND "fma" IN_LIST flags)
      set(found avx2)
      if("avx512f" IN_LIST flags AND "avx512dq" IN_LIST flags AND "avx512bw" IN_LIST flags AND "avx512vl" IN_LIST flags)
        set(found avx512)
      endif()
    endif()
  elseif(EXISTS /proc/sys/abi/sve_default_vector_length)
    file(STRINGS /proc/sys/abi/sve_default_vector_length bytes)
    math(EXPR bits "8 * ${bytes}")
    if("sve${bits}" IN_LIST all_instruction_sets)
      set(found sve${bits})
    endif()
  endif()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

set(instruction_sets ${STAGHORN_INSTRUCTION_SETS})
if(instruction_sets STREQUAL "all")
  set(instruction_sets ${all_instruction_sets})
elseif(instruction_sets STREQUAL "native")
  find_native_instruction_set(instruction_sets)
endif()
if(NOT instruction_sets)
  message(FATAL_ERROR "STAGHORN_INSTRUCTION_SETS: expected native, all, or some of '${all_instruction_sets}', found none")
endif()
message(STATUS "CPU kernels: ${instruction_sets}")

# -O2 compiles in two thirds of the time; hops of several right-hand sides are up to 1.5 times slower then. So baseline
# kernels, for processors from before 2013, are not optimised further. -O1 takes a quarter of the time of -O2 and is as fast
# for one right-hand side, once loops over lanes become vector instructions; else it is fifteen times slower. No bit depends
# on it.
set(kernel_optimization -O3)
if(STAGHORN_QUICK_BUILD)
  set(kernel_optimization -O1 -ftree-vectorize)
endif()

# Lanes fill so many bytes of a vector register. On Arm the baseline is NEON. SVE kernels are for registers of exactly
# their size; where those have 16 bytes, as on Grace, they hold no more than those of NEON.
set(bytes_baseline 32)
set(bytes_avx2 32)
set(bytes_avx512 64)
set(bytes_sve256 32)
set(bytes_sve512 64)
if("sve256" IN_LIST all_instruction_sets)
  set(bytes_baseline 16)
endif()
set(options_baseline -Wno-psabi)
set(options_avx2 -mavx2 -mfma)
set(options_avx512 -mavx2 -mfma -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512)
set(options_sve256 -march=armv8.2-a+sve -msve-vector-bits=256)
set(options_sve512 -march=armv8.2-a+sve -msve-vector-bits=512)

foreach(isa ${instruction_sets})
  if(NOT isa IN_LIST all_instruction_sets)
    message(FATAL_ERROR "STAGHORN_INSTRUCTION_SETS: expected native, all, or some of '${all_instruction_sets}', found '${isa}'")
  endif()
  add_library(cpu_kernels_${isa} OBJECT dirac/kernels/cpu/cpu_kernels.cpp
                                          dirac/kernels/cpu/cpu_improved_fp64.cpp
                                          dirac/kernels/cpu/cpu_improved_fp32.cpp
                                          dirac/kernels/cpu/cpu_improved_fp16.cpp
                                          dirac/kernels/cpu/cpu_vector_kernels.cpp)
  target_include_directories(cpu_kernels_${isa} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(cpu_kernels_${isa} PRIVATE OpenMP::OpenMP_CXX)
  target_compile_definitions(cpu_kernels_${isa} PRIVATE STAGHORN_ISA=${isa} STAGHORN_VECTOR_BYTES=${bytes_${isa}})
  set(optimization ${kernel_optimization})
  if(NOT STAGHORN_QUICK_BUILD AND isa STREQUAL "baseline" AND all_instruction_sets MATCHES "avx2")
    set(optimization -O2)
  endif()
  # -O3 takes minutes when instrumented; a debug build is for debugging.
  target_compile_options(cpu_kernels_${isa} PRIVATE "$<$<NOT:$<CONFIG:Debug>>:$<IF:$<BOOL:${STAGHORN_SANITIZE}>,-O1,${optimization}>>"
                                                    ${options_${isa}})
endforeach()
