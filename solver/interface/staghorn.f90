! Staghorn for Fortran: the structs and functions of staghorn.h, which says what they promise. Compile this file with
! your code and link libstaghorn.so.
!
! Arrays of fields are type(c_ptr), made by c_loc of an array with the attribute target. Complex arrays of rank 6 or so,
! u(3, 3, 4, nx, ny, nz, nt), lie as STAGHORN_LEX wants them if u(column, row, mu, x, y, z, t) is the matrix element.
! Arguments that are optional here may be NULL in C. `staghorn_set_defaults` stands for staghorn_defaults.
module staghorn
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer(c_int), parameter :: STAGHORN_OK = 0, STAGHORN_NOT_CONVERGED = 1, STAGHORN_STAGNATED = 2, &
    STAGHORN_BREAKDOWN = 3, STAGHORN_STOPPED = 4, STAGHORN_WITHHELD = 5, &
    STAGHORN_E_ARGUMENT = -1, STAGHORN_E_LAYOUT = -2, STAGHORN_E_VALUE = -3, STAGHORN_E_MEMORY = -4, &
    STAGHORN_E_DEVICE = -5, STAGHORN_E_MPI = -6, &
    STAGHORN_E_STATE = -7, STAGHORN_E_UNSUPPORTED = -8, STAGHORN_E_INTERNAL = -9, STAGHORN_E_FILE = -10
  integer(c_int32_t), parameter :: STAGHORN_LEX = 0, STAGHORN_CPS_STAG = 1, STAGHORN_CPS_WILSON = 2, &
    STAGHORN_EVEN_ODD_X = 3, STAGHORN_QDP = 4, STAGHORN_CPS_STAG_BLOCK = 5
  integer(c_int32_t), parameter :: STAGHORN_PHASES_NONE = 0, STAGHORN_PHASES_CPS = 1, STAGHORN_PHASES_MILC = 2, &
    STAGHORN_PHASES_TIFR = 3, STAGHORN_PHASES_CHROMA = 4, STAGHORN_PHASES_AS_GIVEN = 5
  integer(c_int32_t), parameter :: STAGHORN_FULL = 0, STAGHORN_EVEN = 1, STAGHORN_ODD = 2
  integer(c_int32_t), parameter :: STAGHORN_HOST = 0, STAGHORN_PINNED = 1, STAGHORN_DEVICE = 2
  integer(c_int32_t), parameter :: STAGHORN_FP64 = 0, STAGHORN_FP32 = 1, STAGHORN_FP16 = 2, &
    STAGHORN_NO_SLOPPY = 3, STAGHORN_AUTO_SLOPPY = 4
  integer(c_int64_t), parameter :: STAGHORN_NO_LIMIT = -1, STAGHORN_GENERATION_BY_CONTENT = -1
  integer(c_int), parameter :: STAGHORN_STOP_ON_THETA = 0, STAGHORN_STOP_ON_CHANGE = 1
  integer(c_int32_t), parameter :: STAGHORN_MOMENTUM_ODD = 1, STAGHORN_MOMENTUM_EVEN = 2, STAGHORN_MOMENTUM_BOTH = 3
  integer(c_int32_t), parameter :: STAGHORN_STOP_ON_SYSTEM = 0, STAGHORN_STOP_ON_PARITY = 1
  integer(c_int32_t), parameter :: STAGHORN_CERTIFICATE_AUTO = 0, STAGHORN_CERTIFICATE_HOST = 1, &
    STAGHORN_CERTIFICATE_DEVICE = 2, STAGHORN_CERTIFICATE_WITH_SOLVE = 3
  integer(c_int32_t), parameter :: STAGHORN_EIGENVECTORS_AUTO = 0, STAGHORN_EIGENVECTORS_DEVICE = 1, &
    STAGHORN_EIGENVECTORS_HOST = 2
  integer(c_int32_t), parameter :: STAGHORN_NAIVE = 0, STAGHORN_ASQTAD = 1, STAGHORN_HISQ = 2
  integer(c_int32_t), parameter :: STAGHORN_U3 = 0, STAGHORN_SU3 = 1
  integer(c_int32_t), parameter :: STAGHORN_DEVICE_AUTO = -2, STAGHORN_DEVICE_CPU = -1

  type, bind(C) :: staghorn_geometry
    integer(c_int32_t) :: struct_size, global(4), grid(4), coord(4)
  end type
  type, bind(C) :: staghorn_options
    integer(c_int32_t) :: struct_size, device, threads, certificate, environment, eigenvectors_on
    type(c_ptr) :: stream, transport, tuning_file
    type(c_funptr) :: log
    type(c_ptr) :: log_data, devices, words
  end type
  type, bind(C) :: staghorn_links
    integer(c_int32_t) :: struct_size, order, precision, memory, phases, boundary_in, dagger, reals
    integer(c_int64_t) :: site_stride, link_offset
    real(c_double) :: theta(4), scale(4)
    integer(c_int64_t) :: generation
    real(c_double) :: coefficient
    type(c_ptr) :: words
  end type
  type, bind(C) :: staghorn_action
    integer(c_int32_t) :: struct_size, quarks, unitarize, long_reals
    real(c_double) :: u0, naik_epsilon
  end type
  type, bind(C) :: staghorn_vectors
    integer(c_int32_t) :: struct_size, order, precision, memory, phases, half
    integer(c_int64_t) :: site_stride
  end type
  type, bind(C) :: staghorn_request
    integer(c_int32_t) :: struct_size, system, sign, halved, precision, sloppy, sloppy_reals, stop, guess, &
      chronological
    real(c_double) :: mass, tolerance, tolerance_hq
    integer(c_int64_t) :: max_iterations
    type(c_funptr) :: progress
    type(c_ptr) :: progress_data
    type(c_funptr) :: withhold
    type(c_ptr) :: withhold_data, words
  end type
  type, bind(C) :: staghorn_result
    integer(c_int32_t) :: struct_size, status
    integer(c_int64_t) :: iterations, updates
    real(c_double) :: residual_iterated, residual_true, residual_parity, residual_hq, source_norm2, solution_norm2, seconds
    integer(c_int64_t) :: iterations_more
  end type
  type, bind(C) :: staghorn_gauge_info
    integer(c_int32_t) :: struct_size, naive
    real(c_double) :: plaquette(3), link_trace(2), unitarity, determinant
    integer(c_int64_t) :: hash, loads
    real(c_double) :: coefficient, long_unitarity
    integer(c_int64_t) :: long_hash
  end type

  type, bind(C) :: staghorn_eigen_request
    integer(c_int32_t) :: struct_size, pairs
    real(c_double) :: tolerance
    integer(c_int64_t) :: max_calls, seed
    type(c_ptr) :: checkpoint
    real(c_double) :: checkpoint_every
    integer(c_int32_t) :: resume, reserved
    type(c_funptr) :: progress
    type(c_ptr) :: progress_data
  end type
  type, bind(C) :: staghorn_eigen_info
    integer(c_int32_t) :: struct_size, status, pairs, found, precision, used
    real(c_double) :: smallest, largest, largest_of_all, residual, orthogonality
    integer(c_int64_t) :: calls
    real(c_double) :: seconds
  end type

  interface staghorn_set_defaults
    module procedure geometry_defaults, options_defaults, links_defaults, vectors_defaults, request_defaults, &
      result_defaults, gauge_info_defaults, action_defaults, eigen_request_defaults, eigen_info_defaults
  end interface

  interface
    integer(c_int) function staghorn_version() bind(C)
      import
    end function
    type(c_ptr) function staghorn_status_text(status) bind(C)
      import
      integer(c_int), value :: status
    end function
    type(c_ptr) function staghorn_last_error() bind(C)
      import
    end function
    integer(c_int) function staghorn_defaults(a_struct, size, which) bind(C)
      import
      type(c_ptr), value :: a_struct
      integer(c_size_t), value :: size
      integer(c_int), value :: which
    end function
    integer(c_int) function staghorn_context_create(context, geometry, options) bind(C)
      import
      type(c_ptr), intent(out) :: context
      type(staghorn_geometry), intent(in) :: geometry
      type(staghorn_options), intent(in), optional :: options
    end function
    ! fortran_communicator: comm, or comm%mpi_val of mpi_f08
    integer(c_int) function staghorn_context_create_f(context, fortran_communicator, geometry, options) bind(C)
      import
      type(c_ptr), intent(out) :: context
      integer(c_int32_t), value :: fortran_communicator
      type(staghorn_geometry), intent(in) :: geometry
      type(staghorn_options), intent(in), optional :: options
    end function
    integer(c_int) function staghorn_context_local(context, extents, origin) bind(C)
      import
      type(c_ptr), value :: context
      integer(c_int32_t), intent(out) :: extents(4), origin(4)
    end function
    integer(c_int) function staghorn_context_grid(context, grid) bind(C)
      import
      type(c_ptr), value :: context
      integer(c_int32_t), intent(out) :: grid(4)
    end function
    integer(c_int) function staghorn_context_device(context, device) bind(C)
      import
      type(c_ptr), value :: context
      integer(c_int32_t), intent(out) :: device
    end function
    integer(c_int) function staghorn_context_destroy(context) bind(C)
      import
      type(c_ptr), intent(inout) :: context
    end function
    integer(c_int) function staghorn_gauge_create(context, links, u, gauge) bind(C)
      import
      type(c_ptr), value :: context
      type(staghorn_links), intent(in) :: links
      type(c_ptr), intent(in) :: u(4)
      type(c_ptr), intent(out) :: gauge
    end function
    integer(c_int) function staghorn_gauge_create_improved(context, fat_links, fat, long_links, lng, gauge) bind(C)
      import
      type(c_ptr), value :: context
      type(staghorn_links), intent(in) :: fat_links, long_links
      type(c_ptr), intent(in) :: fat(4), lng(4)
      type(c_ptr), intent(out) :: gauge
    end function
    integer(c_int) function staghorn_gauge_create_action(context, links, u, action, gauge) bind(C)
      import
      type(c_ptr), value :: context
      type(staghorn_links), intent(in) :: links
      type(c_ptr), intent(in) :: u(4)
      type(staghorn_action), intent(in) :: action
      type(c_ptr), intent(out) :: gauge
    end function
    integer(c_int) function staghorn_gauge_update(gauge, links, u) bind(C)
      import
      type(c_ptr), value :: gauge
      type(staghorn_links), intent(in) :: links
      type(c_ptr), intent(in) :: u(4)
    end function
    integer(c_int) function staghorn_gauge_update_improved(gauge, fat_links, fat, long_links, lng) bind(C)
      import
      type(c_ptr), value :: gauge
      type(staghorn_links), intent(in) :: fat_links, long_links
      type(c_ptr), intent(in) :: fat(4), lng(4)
    end function
    ! path: ends in c_null_char, or is absent; words: c_null_ptr, or options by name
    integer(c_int) function staghorn_gauge_read(context, path, words, gauge) bind(C)
      import
      type(c_ptr), value :: context, words
      character(kind=c_char), intent(in), optional :: path(*)
      type(c_ptr), intent(out) :: gauge
    end function
    integer(c_int) function staghorn_gauge_links(gauge, links, u) bind(C)
      import
      type(c_ptr), value :: gauge
      type(staghorn_links), intent(in) :: links
      type(c_ptr), intent(in) :: u(4)
    end function
    integer(c_int) function staghorn_gauge_report(gauge, json, bytes) bind(C)
      import
      type(c_ptr), value :: gauge, json
      integer(c_size_t), intent(inout) :: bytes
    end function
    integer(c_int) function staghorn_gauge_get(gauge, info) bind(C)
      import
      type(c_ptr), value :: gauge
      type(staghorn_gauge_info), intent(inout) :: info
    end function
    integer(c_int) function staghorn_gauge_destroy(gauge) bind(C)
      import
      type(c_ptr), intent(inout) :: gauge
    end function
    integer(c_int) function staghorn_hop(gauge, vectors, target_sites, n, in, out) bind(C)
      import
      type(c_ptr), value :: gauge
      type(staghorn_vectors), intent(in) :: vectors
      integer(c_int), value :: target_sites, n
      type(c_ptr), intent(in) :: in(*), out(*)
    end function
    ! name, value: end in c_null_char; words: c_null_ptr at first
    integer(c_int) function staghorn_words_set(words, name, value) bind(C)
      import
      type(c_ptr), intent(inout) :: words
      character(kind=c_char), intent(in) :: name(*), value(*)
    end function
    integer(c_int) function staghorn_words_release(words) bind(C)
      import
      type(c_ptr), intent(inout) :: words
    end function
    integer(c_int) function staghorn_request_set(request, name, value) bind(C)
      import
      type(staghorn_request), intent(inout) :: request
      character(kind=c_char), intent(in) :: name(*), value(*)
    end function
    integer(c_int) function staghorn_request_release(request) bind(C)
      import
      type(staghorn_request), intent(inout) :: request
    end function
    ! room: a function (data, n) bind(C) that returns a c_ptr
    integer(c_int) function staghorn_solve_sources(gauge, request, vectors, n, b, room, room_data) bind(C)
      import
      type(c_ptr), value :: gauge
      type(staghorn_request), intent(in) :: request
      type(staghorn_vectors), intent(in) :: vectors
      integer(c_int), value :: n
      type(c_ptr), intent(in), optional :: b(*)
      type(c_funptr), value :: room
      type(c_ptr), value :: room_data
    end function
    integer(c_int) function staghorn_solve(gauge, request, vectors, n, b, x, dx, results) bind(C)
      import
      type(c_ptr), value :: gauge
      type(staghorn_request), intent(in) :: request
      type(staghorn_vectors), intent(in) :: vectors
      integer(c_int), value :: n
      type(c_ptr), intent(in) :: b(*), x(*)
      type(c_ptr), intent(in), optional :: dx(*)
      type(staghorn_result), intent(inout) :: results(*)
    end function
    integer(c_int) function staghorn_multishift(gauge, request, vectors, n, shift, tolerance, alpha, b, x, dx, results) &
      bind(C)
      import
      type(c_ptr), value :: gauge
      type(staghorn_request), intent(in) :: request
      type(staghorn_vectors), intent(in) :: vectors
      integer(c_int), value :: n
      real(c_double), intent(in) :: shift(*)
      real(c_double), intent(in), optional :: tolerance(*), alpha(*)
      type(c_ptr), value :: b
      type(c_ptr), intent(in) :: x(*)
      type(c_ptr), intent(in), optional :: dx(*)
      type(staghorn_result), intent(inout) :: results(*)
    end function
    integer(c_int) function staghorn_eigenpairs_compute(gauge, request, values, info) bind(C)
      import
      type(c_ptr), value :: gauge
      type(staghorn_eigen_request), intent(in) :: request
      real(c_double), intent(out), optional :: values(*)
      type(staghorn_eigen_info), intent(inout), optional :: info
    end function
    ! path: ends in c_null_char, or is absent; room: as of staghorn_solve_sources, or c_null_funptr
    integer(c_int) function staghorn_eigenpairs_find(gauge, request, path, storage, replace, vectors, room, room_data) bind(C)
      import
      type(c_ptr), value :: gauge
      type(staghorn_eigen_request), intent(in) :: request
      character(kind=c_char), intent(in), optional :: path(*)
      integer(c_int), value :: storage, replace
      type(staghorn_vectors), intent(in), optional :: vectors
      type(c_funptr), value :: room
      type(c_ptr), value :: room_data
    end function
    ! path: ends in c_null_char
    integer(c_int) function staghorn_eigenpairs_read(gauge, path, info) bind(C)
      import
      type(c_ptr), value :: gauge
      character(kind=c_char), intent(in) :: path(*)
      type(staghorn_eigen_info), intent(inout), optional :: info
    end function
    integer(c_int) function staghorn_eigenpairs_write(gauge, path, storage, replace) bind(C)
      import
      type(c_ptr), value :: gauge
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: storage, replace
    end function
    integer(c_int) function staghorn_coarse_find(gauge, vectors, block, iterations, seed, path, storage, replace) bind(C)
      import
      type(c_ptr), value :: gauge, block, path
      integer(c_int), value :: vectors
      integer(c_int64_t), value :: iterations, seed
      integer(c_int), value :: storage, replace
    end function
    integer(c_int) function staghorn_eigenpairs_use(gauge, use) bind(C)
      import
      type(c_ptr), value :: gauge
      integer(c_int), value :: use
    end function
    integer(c_int) function staghorn_eigenpairs_get(gauge, info, n, values, residuals) bind(C)
      import
      type(c_ptr), value :: gauge
      type(staghorn_eigen_info), intent(inout) :: info
      integer(c_int), value :: n
      real(c_double), intent(out), optional :: values(*), residuals(*)
    end function
    integer(c_int) function staghorn_eigenpairs_vectors(gauge, vectors, first, n, v) bind(C)
      import
      type(c_ptr), value :: gauge
      type(staghorn_vectors), intent(in) :: vectors
      integer(c_int), value :: first, n
      type(c_ptr), intent(in) :: v(*)
    end function
    integer(c_int) function staghorn_eigenpairs_release(gauge) bind(C)
      import
      type(c_ptr), value :: gauge
    end function
    ! text: ends in c_null_char
    integer(c_int) function staghorn_refuse(context, status, text) bind(C)
      import
      type(c_ptr), value :: context
      integer(c_int), value :: status
      character(kind=c_char), intent(in) :: text(*)
    end function
    ! paths: an address of steps for each path
    integer(c_int) function staghorn_loop_traces(context, links, u, n, paths, lengths, traces) bind(C)
      import
      type(c_ptr), value :: context
      type(staghorn_links), intent(in) :: links
      type(c_ptr), intent(in) :: u(4), paths(*)
      integer(c_int), value :: n
      integer(c_int32_t), intent(in) :: lengths(*)
      real(c_double), intent(out) :: traces(2, *)
    end function
    ! paths: an address of steps for each path
    integer(c_int) function staghorn_transport(context, links, u, vectors, n, paths, lengths, weights, times, in, out) bind(C)
      import
      type(c_ptr), value :: context
      type(staghorn_links), intent(in) :: links
      type(staghorn_vectors), intent(in) :: vectors
      type(c_ptr), intent(in) :: u(4), paths(*)
      integer(c_int), value :: n, times
      integer(c_int32_t), intent(in) :: lengths(*)
      real(c_double), intent(in) :: weights(*)
      type(c_ptr), value :: in, out
    end function
    integer(c_int) function staghorn_spin_taste(context, links, u, vectors, spin, taste, origin, in, out) bind(C)
      import
      type(c_ptr), value :: context
      type(staghorn_links), intent(in) :: links
      type(staghorn_vectors), intent(in) :: vectors
      type(c_ptr), intent(in) :: u(4)
      integer(c_int), value :: spin, taste
      integer(c_int32_t), intent(in) :: origin(4)
      type(c_ptr), value :: in, out
    end function
    integer(c_int) function staghorn_contract(context, vectors, antiquark, quark, n, momenta, symmetries, origin, &
        correlators) bind(C)
      import
      type(c_ptr), value :: context
      type(staghorn_vectors), intent(in) :: vectors
      type(c_ptr), value :: antiquark, quark
      integer(c_int), value :: n
      integer(c_int32_t), intent(in) :: momenta(3, *), symmetries(3, *), origin(4)
      real(c_double), intent(out) :: correlators(2, *)
    end function
    integer(c_int) function staghorn_fix_gauge(context, links, u, directions, relaxation, tolerance, stop, max_sweeps, &
        functionals, theta, sweeps) bind(C)
      import
      type(c_ptr), value :: context
      type(staghorn_links), intent(in) :: links
      type(c_ptr), intent(in) :: u(4)
      integer(c_int), value :: directions, stop, max_sweeps
      real(c_double), value :: relaxation, tolerance
      real(c_double), intent(out) :: functionals(2)
      real(c_double), intent(out), optional :: theta
      integer(c_int), intent(out), optional :: sweeps
    end function
    integer(c_int) function staghorn_smear_links(context, links, u, weights, smeared, fat, naik, unitary) bind(C)
      import
      type(c_ptr), value :: context
      type(staghorn_links), intent(in) :: links, smeared
      type(c_ptr), intent(in) :: u(4)
      real(c_double), intent(in) :: weights(6)
      type(c_ptr), intent(in), optional :: fat(4), naik(4), unitary(4)
    end function
    integer(c_int) function staghorn_site_sum(context, site_values, sum) bind(C)
      import
      type(c_ptr), value :: context
      real(c_double), intent(in) :: site_values(*)
      real(c_double), intent(out) :: sum
    end function
    integer(c_int) function staghorn_convert_vectors(context, from, in, to, out) bind(C)
      import
      type(c_ptr), value :: context, in, out
      type(staghorn_vectors), intent(in) :: from, to
    end function
    integer(c_int) function staghorn_convert_links(context, from, in, to, out) bind(C)
      import
      type(c_ptr), value :: context
      type(staghorn_links), intent(in) :: from, to
      type(c_ptr), intent(in) :: in(4), out(4)
    end function
    ! path: ends in c_null_char
    integer(c_int) function staghorn_file_lattice(path, extents) bind(C)
      import
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), intent(out) :: extents(4)
    end function
    integer(c_int) function staghorn_gauge_lattice(path, words, extents) bind(C)
      import
      character(kind=c_char), intent(in), optional :: path(*)
      type(c_ptr), value :: words
      integer(c_int32_t), intent(out) :: extents(4)
    end function
    integer(c_int) function staghorn_read_links(context, path, verify, links, u) bind(C)
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: verify
      type(staghorn_links), intent(in) :: links
      type(c_ptr), intent(in) :: u(4)
    end function
    ! path, name: end in c_null_char
    integer(c_int) function staghorn_write_vectors(context, path, name, replace, vectors, n, v) bind(C)
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: path(*), name(*)
      integer(c_int), value :: replace, n
      type(staghorn_vectors), intent(in) :: vectors
      type(c_ptr), intent(in) :: v(*)
    end function
    type(c_ptr) function staghorn_mpi_library() bind(C)
      import
    end function
    integer(c_int) function staghorn_report(context, json, bytes) bind(C)
      import
      type(c_ptr), value :: context, json
      integer(c_size_t), intent(inout) :: bytes
    end function
  end interface

  private :: geometry_defaults, options_defaults, links_defaults, vectors_defaults, request_defaults, result_defaults, &
    gauge_info_defaults, action_defaults, filled, text_at

contains

  ! The text of the last error in this thread.
  function staghorn_error_text() result(text)
    character(:), allocatable :: text
    text = text_at(staghorn_last_error())
  end function

  subroutine geometry_defaults(a_struct)
    type(staghorn_geometry), intent(out), target :: a_struct
    call filled(c_loc(a_struct), c_sizeof(a_struct), 1)
  end subroutine
  subroutine options_defaults(a_struct)
    type(staghorn_options), intent(out), target :: a_struct
    call filled(c_loc(a_struct), c_sizeof(a_struct), 2)
  end subroutine
  subroutine links_defaults(a_struct)
    type(staghorn_links), intent(out), target :: a_struct
    call filled(c_loc(a_struct), c_sizeof(a_struct), 3)
  end subroutine
  subroutine vectors_defaults(a_struct)
    type(staghorn_vectors), intent(out), target :: a_struct
    call filled(c_loc(a_struct), c_sizeof(a_struct), 4)
  end subroutine
  subroutine request_defaults(a_struct)
    type(staghorn_request), intent(out), target :: a_struct
    call filled(c_loc(a_struct), c_sizeof(a_struct), 5)
  end subroutine
  subroutine result_defaults(a_struct)
    type(staghorn_result), intent(out), target :: a_struct
    call filled(c_loc(a_struct), c_sizeof(a_struct), 6)
  end subroutine
  subroutine gauge_info_defaults(a_struct)
    type(staghorn_gauge_info), intent(out), target :: a_struct
    call filled(c_loc(a_struct), c_sizeof(a_struct), 7)
  end subroutine
  subroutine action_defaults(a_struct)
    type(staghorn_action), intent(out), target :: a_struct
    call filled(c_loc(a_struct), c_sizeof(a_struct), 8)
  end subroutine
  subroutine eigen_request_defaults(a_struct)
    type(staghorn_eigen_request), intent(out), target :: a_struct
    call filled(c_loc(a_struct), c_sizeof(a_struct), 9)
  end subroutine
  subroutine eigen_info_defaults(a_struct)
    type(staghorn_eigen_info), intent(out), target :: a_struct
    call filled(c_loc(a_struct), c_sizeof(a_struct), 10)
  end subroutine

  subroutine filled(address, size, which)
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: size
    integer, intent(in) :: which
    if (staghorn_defaults(address, size, int(which, c_int)) /= STAGHORN_OK) &
      error stop 'staghorn.f90 and libstaghorn.so are of different versions'
  end subroutine

  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer, parameter :: longest = 100000
    integer :: length, k
    call c_f_pointer(address, letters, [longest])
    length = 0
    do while (letters(length + 1) /= c_null_char)
      length = length + 1
    end do
    allocate (character(length) :: text)
    do k = 1, length
      text(k:k) = letters(k)
    end do
  end function
end module
