! Point sources on unit links, solved from Fortran, and checked with the operator of the library: naive and improved
! quarks, one mass and several shifts.
program unit_links
  use staghorn
  implicit none
  integer, parameter :: n(4) = [4, 6, 4, 8], shifts = 3
  complex(c_double_complex), target :: u(3, 3, 4, n(1), n(2), n(3), n(4)), b(3, n(1), n(2), n(3), n(4))
  complex(c_double_complex), target :: x(3, n(1), n(2), n(3), n(4), shifts)
  real(c_double), parameter :: mass = 0.1_c_double, shift(shifts) = [0.0_c_double, 0.1_c_double, 0.5_c_double]
  type(staghorn_geometry) :: geometry
  type(staghorn_links) :: links
  type(staghorn_vectors) :: vectors
  type(staghorn_request) :: request
  type(staghorn_action) :: action
  type(staghorn_result) :: results(shifts)
  type(c_ptr) :: context, gauge, improved, u_pointers(4)
  integer :: c, s
  real(c_double) :: residual, unlike, worst

  call staghorn_set_defaults(geometry)
  call staghorn_set_defaults(links)
  call staghorn_set_defaults(vectors)
  call staghorn_set_defaults(request)
  call staghorn_set_defaults(action)
  do s = 1, shifts
    call staghorn_set_defaults(results(s))
  end do
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
  request%mass = mass
  call check(staghorn_solve(gauge, request, vectors, 1_c_int, [c_loc(b)], [c_loc(x)], results=results))
  residual = residual_of(gauge, mass, 1)
  print '(a, i0, a, es8.1, a, es8.1)', 'iterations ', results(1)%iterations, ' certified ', results(1)%residual_true, &
    ' checked ', residual

  ! A full system of each shift has the mass whose 4 m^2 is 4 mass^2 + shift.
  call check(staghorn_multishift(gauge, request, vectors, int(shifts, c_int), shift, b=c_loc(b), &
                                 x=[(c_loc(x(1, 1, 1, 1, 1, s)), s=1, shifts)], results=results))
  worst = 0
  do s = 1, shifts
    worst = max(worst, residual_of(gauge, sqrt(4*mass**2 + shift(s))/2, s))
  end do
  print '(a, i0, a, es8.1)', 'shifts ', shifts, ' checked ', worst

  action%quarks = STAGHORN_ASQTAD
  call check(staghorn_gauge_create_action(context, links, u_pointers, action, improved))
  call check(staghorn_solve(improved, request, vectors, 1_c_int, [c_loc(b)], [c_loc(x)], results=results))
  worst = max(worst, residual_of(improved, mass, 1))
  unlike = residual_of(gauge, mass, 1)
  print '(a, es8.1, a, es8.1)', 'asqtad quarks checked ', worst, ' with the naive operator ', unlike

  request%mass = -1
  if (staghorn_solve(gauge, request, vectors, 1_c_int, [c_loc(b)], [c_loc(x)], results=results) >= 0) error stop 'mass'
  print '(2a)', 'refused: ', staghorn_error_text()
  call check(staghorn_gauge_destroy(improved))
  call check(staghorn_gauge_destroy(gauge))
  call check(staghorn_context_destroy(context))
  if (c_associated(context) .or. residual > 1.01d-10 .or. worst > 1.01d-10 .or. unlike < 1d-3) error stop 'not solved'

contains

  ! |2 m x + D x - b| / |b| of solution s.
  real(c_double) function residual_of(of_gauge, m, s)
    type(c_ptr), intent(in) :: of_gauge
    real(c_double), intent(in) :: m
    integer, intent(in) :: s
    complex(c_double_complex), target :: d_x(3, n(1), n(2), n(3), n(4))
    call check(staghorn_hop(of_gauge, vectors, int(STAGHORN_FULL, c_int), 1_c_int, [c_loc(x(1, 1, 1, 1, 1, s))], &
                            [c_loc(d_x)]))
    residual_of = sqrt(sum(abs(2*m*x(:, :, :, :, :, s) + d_x - b)**2)/sum(abs(b)**2))
  end function

  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status == STAGHORN_OK) return
    print '(a)', staghorn_error_text()
    error stop 'failed'
  end subroutine
end program
