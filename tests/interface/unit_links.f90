! A point source on unit links, solved from Fortran, and checked with the operator of the library.
program unit_links
  use staghorn
  implicit none
  integer, parameter :: n(4) = [4, 6, 4, 8]
  complex(c_double_complex), target :: u(3, 3, 4, n(1), n(2), n(3), n(4)), b(3, n(1), n(2), n(3), n(4))
  complex(c_double_complex), target :: x(3, n(1), n(2), n(3), n(4)), d_x(3, n(1), n(2), n(3), n(4))
  type(staghorn_geometry) :: geometry
  type(staghorn_links) :: links
  type(staghorn_vectors) :: vectors
  type(staghorn_request) :: request
  type(staghorn_result) :: results(1)
  type(c_ptr) :: context, gauge, u_pointers(4)
  integer :: c
  real(c_double) :: residual

  call staghorn_set_defaults(geometry)
  call staghorn_set_defaults(links)
  call staghorn_set_defaults(vectors)
  call staghorn_set_defaults(request)
  call staghorn_set_defaults(results(1))
  u = 0
  do c = 1, 3
    u(c, c, :, :, :, :, :) = 1
  end do
  b = 0
  b(1, 1, 1, 1, 1) = 1
  geometry%global = n
  call check(staghorn_context_create(context, geometry))
  u_pointers = c_null_ptr
  u_pointers(1) = c_loc(u)
  call check(staghorn_gauge_create(context, links, u_pointers, gauge))
  request%mass = 0.1_c_double
  call check(staghorn_solve(gauge, request, vectors, 1_c_int, [c_loc(b)], [c_loc(x)], results=results))
  call check(staghorn_hop(gauge, vectors, int(STAGHORN_FULL, c_int), 1_c_int, [c_loc(x)], [c_loc(d_x)]))
  residual = sqrt(sum(abs(2*request%mass*x + d_x - b)**2)/sum(abs(b)**2))
  request%mass = -1
  if (staghorn_solve(gauge, request, vectors, 1_c_int, [c_loc(b)], [c_loc(x)], results=results) >= 0) error stop 'mass'
  print '(a, i0, a, es8.1, a, es8.1, 2a)', 'iterations ', results(1)%iterations, ' certified ', &
    results(1)%residual_true, ' checked ', residual, ' refused: ', staghorn_error_text()
  call check(staghorn_gauge_destroy(gauge))
  call check(staghorn_context_destroy(context))
  if (c_associated(context) .or. residual > 1.01d-10) error stop 'not solved'

contains

  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status == STAGHORN_OK) return
    print '(a)', staghorn_error_text()
    error stop 'failed'
  end subroutine
end program
