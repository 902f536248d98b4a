# The headers that `cmake --install` brings: those that other codes include, and what these include in turn.
# tests/structure/test_installed_headers.py checks that the second list is complete and holds nothing else.
set(staghorn_public_headers # promised by docs/interfaces/library.md
    halo/cut_lattice.hpp
    solver/session/session.hpp)
set(staghorn_included_headers
    dirac/algebra/lanes.hpp
    dirac/algebra/precision.hpp
    dirac/algebra/su3.hpp
    dirac/fields/site_field.hpp
    dirac/gauge/gauge_observables.hpp
    dirac/gauge/improved_links.hpp
    dirac/gauge/link_phases.hpp
    dirac/kernels/launch_choice.hpp
    dirac/stencil/boundary.hpp
    halo/buffer.hpp
    halo/communicator.hpp
    halo/cut/share_summary.hpp
    halo/cut/slab_widths.hpp
    halo/host_mapping.hpp
    halo/lattice.hpp
    halo/transport/transport_choice.hpp
    halo/watch/check_mpi.hpp
    halo/watch/error.hpp
    halo/watch/slow_down.hpp
    lattice_io/files/checksums.hpp
    lattice_io/files/output_file.hpp
    lattice_io/gauge/gauge_file.hpp
    lattice_io/names/name_lock.hpp
    solver/krylov/cg_progress.hpp
    solver/report/cg_spectrum.hpp
    solver/report/observable.hpp
    solver/report/run_setting.hpp
    solver/report/solve_report.hpp
    solver/request/quark_action.hpp
    solver/request/rational_function.hpp
    solver/request/solve_request.hpp
    solver/request/targets.hpp)
