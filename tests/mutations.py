"""`./dev mutate`: breaks one rule of the program after the other and asks that a test fails for each. It is no test itself.

    mutations.py [--list] [--only WORD ...] [--cuda]

Each mutation is an exact edit of one text of the sources. The edit is made in a copy of the tree (build-mutate/tree), what
changed is rebuilt there without optimisation, and the tests that guard the rule are run. At least one of them must fail. Before
the first edit the same tests must pass. The exit status is 0 if every mutation was noticed.

The texts stand below with the rule that they break. A text that is not found exactly once ends the run: it has been rewritten
and the mutation must follow. Mutations of the GPU's code are compiled, with --cuda, and run where there is a GPU.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build-mutate"
TREE, BUILD, BUILD_CUDA = FOLDER / "tree", FOLDER / "build", FOLDER / "build-cuda"
CODE = {".hpp", ".cpp", ".cu", ".cuh"}


class Mutation(NamedTuple):
    rule: str
    old: str  # stands once in the sources
    new: str
    tests: list[str]  # names for pytest
    gpu: bool = False  # code of GPUs: compiled, and tested where there is one


HOP = ["tests/unit/test_unit_checks.py::test_unit_check[hop_baseline_2x2x2x2_periodic_periodic_periodic_antiperiodic]"]
IMPROVED_HOP = ["tests/unit/test_unit_checks.py::test_unit_check[improved_hop_baseline_4x4x4x4_periodic_periodic_periodic_antiperiodic]"]
CG = ["tests/unit/test_unit_checks.py::test_unit_check[cg_cpu_fp64_mass_0.3]"]  # against the textbook, wherever it stops
EQUATION = "tests/property/test_solver.py::test_solution_satisfies_the_equation"  # against the NumPy operator
BITS = "tests/mpi/test_same_bits.py::test_solutions_have_the_bits_of_one_rank"

LAYOUTS = ["tests/unit/test_unit_checks.py::test_unit_check[vectors_of_all_layouts_are_read_and_written_exactly]"]
CPS = ["tests/interface/cps/test_cps.py::test_each_call_leaves_behind_what_cps_leaves"]
MILC = ["tests/interface/milc/test_milc.py::test_milc_gets_the_bits_of_the_program[0-options0]"]
VECTORS = "tests/interface/milc/test_milc_vectors.py"
MILC_PROGRAM = ["tests/interface/milc/test_milc_interface.py::test_a_trajectory_gets_what_milc_computes"]
CHANGES = ["tests/interface/milc/test_milc.py::test_an_answer_after_a_change_is_that_of_a_fresh_start[alone]"]
DIGITS = "tests/io/test_eigenvector_files.py::test_no_digit_of_a_text_without_checksum_changes_an_answer[milc]"
GIVEN = ["tests/unit/test_unit_checks.py::test_unit_check[one_wrong_sign_is_refused_by_name]"]

SCALES = "tests/property/test_scales.py::"
ARCHIVE = "tests/unit/test_unit_checks.py::test_unit_check"

MUTATIONS = [
    # the answer
    Mutation("the stop rule: a right-hand side ends at its target",
             "if (std::sqrt(r2) <= target) {", "if (std::sqrt(r2) <= 4 * target) {", CG),
    Mutation("x: what of it waits is added at the end",
             "if (!beta.empty()) update_direction();", "if (beta.size() > 1000) update_direction();", CG),
    Mutation("Chebyshev: the interval is that of the links of now",
             "  ++filling;", "", ["tests/unit/test_unit_checks.py::test_unit_check[preconditioner_follows_other_links]"]),
    Mutation("Chebyshev: the interval holds the spectrum",
             "half_width = (1 - from_) * largest / 2", "half_width = (1 - from_) * largest / 8",
             ["tests/property/test_preconditioner.py::test_a_polynomial_saves_iterations_and_changes_no_solution[numbers0-7-even]"]),
    Mutation("flexible CG: search directions are conjugate",
             "change[i] = r_z[i] - z_r_before[i];", "change[i] = 0;",
             ["tests/property/test_preconditioner.py::test_a_polynomial_saves_iterations_and_changes_no_solution[numbers0-7-even]"]),
    Mutation("block CG: before rounding spoils what is foreseen, a block is made anew",
             "if (!(drift < most_drift)) return std::nullopt;", "",
             ["tests/unit/test_unit_checks.py::test_unit_check[foreseen_blocks_stay_orthonormal]"]),
    Mutation("a gauge: links stay packed where the solver alone is another",
             "bench_.forget_vectors();\n  links_.set_numbers(wanted);", "bench_.forget_operators();\n  links_.set_numbers(wanted);",
             ["tests/unit/test_unit_checks.py::test_unit_check[another_solver_keeps_the_packed_links]"]),
    Mutation("a job: right-hand sides of a batch have their places in the request",
             "batch.places.push_back(mass * n_sources + batch.first_source + i);", "batch.places.push_back(plan.batches.size() + batch.places.size());",
             ["tests/unit/test_unit_checks.py::test_unit_check[a_job_is_cut_by_epsilons_and_then_by_sources]"]),
    Mutation("the certificate says what the true residual says",
             "if (targets.are_met(tolerance, rhs.residual_true, rhs.residual_hq)) return", "return",
             ["tests/cli/test_outcomes.py::test_out_of_iterations_writes_solution_and_report"]),
    Mutation("the certificate is computed from b - M x, not believed",
             "rhs.residual_true = std::sqrt(r2_ / b2_[i]);", "rhs.residual_true = from_zero_ ? 1 : rhs.residual_iterated;",
             ["tests/cli/test_outcomes.py::test_stagnation_names_what_is_within_reach"]),
    Mutation("two targets: a pass that reached the first is followed by one for the second",
             "rhs.residual_true <= tolerance && memory.previous_residual > tolerance;", "false;", MILC),
    Mutation("Fermilab's residual is relative at each site",
             "std::sqrt(norm2(r) / x2)", "std::sqrt(norm2(r))",
             ["tests/property/test_spectrum_and_residuals.py::test_heavy_quark_residual_is_relative_at_each_site"]),
    Mutation("a source whose squares leave the range of a double is solved times a power of two",
             "return b2 > 0 && !(b2 >= smallest_b2 && b2 <= largest_b2);", "return b2 > 0 && b2 < 0;",
             [SCALES + "test_a_solve_that_is_cut_short_is_never_certified[-900]"]),
    Mutation("a solution that a double cannot hold is judged as it is held",
             "add(*lost, -1, *held);", "multiply(*lost, 0);",
             [SCALES + "test_what_a_double_cannot_hold_is_judged_as_it_is_held[-1060]"]),
    Mutation("the estimate of the spectrum: the element beside the diagonal",
             "t.off2.push_back(beta / alpha[k - 1] / alpha[k - 1]);", "t.off2.push_back(beta / alpha[k - 1]);",
             ["tests/property/test_spectrum_and_residuals.py::test_cg_tells_the_ends_of_the_spectrum"]),
    Mutation("recover: goes back to the solution that was good",
             "if (!(done_.rhs[i].residual_true <= memory_[i].previous_residual)) {", "if (done_.rhs.empty()) {",
             ["tests/property/test_injected_faults.py::test_recover_goes_back_from_a_solution_that_is_lost"]),
    Mutation("CG may stand for as long as its coefficients foresee",
             "return std::max(stop.stagnation_window, iteration_bound(running.root_condition, share));",
             "return stop.stagnation_window;",
             ["tests/unit/test_unit_checks.py::test_unit_check[residual_may_stand_where_the_matrix_is_ill_conditioned]"]),
    Mutation("CG ends far beyond its bound",
             "if (bound == 0 || done.iterations / most_bounds <= bound) return;", "if (bound >= 0) return;",
             ["tests/unit/test_unit_checks.py::test_unit_check[search_ends_far_beyond_what_the_shift_allows]"]),
    Mutation("A has no eigenvalue below its shift, whatever rounding makes of the coefficients",
             "const double smallest = std::max(of_A.smallest, shift);", "const double smallest = of_A.smallest;",
             ["tests/unit/test_unit_checks.py::test_unit_check[search_ends_far_beyond_what_the_shift_allows]"]),
    Mutation("a solve that a limit ends says how many more iterations it would take",
             "const double rate = std::max(rate_so_far(rhs.history), rate_foreseen(",
             "const double rate = 0.1 * std::max(rate_so_far(rhs.history), rate_foreseen(",
             ["tests/property/test_iteration_limits.py::test_a_solve_that_a_limit_ends_says_how_many_more_it_would_take[0.6-cg]"]),
    Mutation("even-odd: the norm of a tiny b' is summed on a grid near it",
             "if (two_m < small_two_m) measure_sources();", "",
             ["tests/property/test_extreme_requests.py::test_a_source_whose_odd_half_the_hop_takes_away_is_solved[cg]"]),
    Mutation("what the division by 2m leaves after the first pass is left to the next",
             "if (memory.passes == 1 && rhs.residual_true <= left_by_division) return",
             "if (memory.passes == 1 && rhs.residual_true <= 0 * left_by_division) return",
             ["tests/property/test_extreme_requests.py::test_tiny_masses_are_solved_by_every_solver[1e-15-cg]"]),
    Mutation("no tolerance is named that would be refused",
             "std::string& list = safe < 1 ? reached : not_reached;", "std::string& list = reached;",
             ["tests/property/test_extreme_requests.py::test_advice_can_be_followed"]),
    Mutation("the residual that is missing is named",
             "add(target.option, target.safe);", "add(\"tolerance\", target.safe);",
             ["tests/property/test_extreme_requests.py::test_advice_can_be_followed"]),
    Mutation("phases of kernels are taken modulo whole turns, exactly",
             "std::numbers::pi * std::fmod(options.boundary.theta[hop / 2], 2.0);", "std::numbers::pi * options.boundary.theta[hop / 2];",
             ["tests/property/test_extreme_requests.py::test_phases_are_taken_modulo_whole_turns"]),
    Mutation("a phase that a double does not resolve is refused",
             "return std::fabs(theta) <= largest_phase;", "return std::isfinite(theta);",
             ["tests/property/test_extreme_requests.py::test_phases_that_a_double_does_not_resolve_are_refused"]),
    # certificates of solutions of other codes
    Mutation("certify: phases are counted from their origin",
             "    before += origin[mu];", "", ["tests/property/test_certify.py::test_convention_of_another_code_is_named[milc-from-an-origin]"]),
    Mutation("certify: a half of a solution does not certify the whole",
             "request.any_convention && !is_partial(judged.convention, systems)",
             "request.any_convention && (is_partial(judged.convention, systems) || true)",
             ["tests/property/test_certify.py::test_a_half_that_is_wrong_is_not_certified_by_the_other"]),
    Mutation("certify: the residual decides, not the fit",
             "    if (judged.residual <= report.tolerance)\n      report.outcome", "    if (judged.residual <= 1e-6)\n      report.outcome",
             ["tests/property/test_certify.py::test_no_convention_is_named_where_one_site_is_wrong_by_1e_6[milc]"]),
    # smoothing
    Mutation("gradient flow: the integrator is of third order",
             "advance(-17. / 9, 8 * step / 9);", "advance(-16. / 9, 8 * step / 9);",
             ["tests/physics/test_smoothing.py::test_the_flow_is_of_third_order[wilson]"]),
    Mutation("gradient flow: links of neighbours beyond a corner arrive",
             "[&](std::int64_t place, std::int64_t i) { outgoing[std::size_t(i)] = copy_[std::size_t(place)]; });",
             "[&](std::int64_t place, std::int64_t i) { outgoing[std::size_t(i)] = copy_[std::size_t(mu == 1 ? rims.places() / 2 : place)]; });",
             ["tests/mpi/test_smoothing_bits.py::test_bits_are_those_of_one_rank[wilson-4-1-2,2,1,1]"]),
    Mutation("gauge fixing: sweeps that run out are told",
             "work.report.converged = now.theta <= setting.tolerance;", "work.report.converged = true;",
             ["tests/physics/test_smoothing.py::test_sweeps_that_run_out_are_told"]),
    # eigenpairs
    Mutation("the probe sees pairs that are missing",
             "if (missing > 0) return Probe::missing;", "",
             ["tests/property/test_eigenpairs.py::test_all_of_48_equal_eigenvalues_are_found"]),
    Mutation("the low part of a correlator begins at the time slice of the source",
             "from = std::size_t(source.site[3]);", "from = 0;",
             ["tests/property/test_deflation.py::"
              "test_pion_correlator_is_that_of_all_translates_where_all_modes_are_known[naive-point:1,0,1,3]"]),
    Mutation("an interval that begins too low is widened",
             "if (stage_.without_growth == 2) {", "if (stage_.without_growth < 0) {",
             ["tests/unit/test_unit_checks.py::test_unit_check[an_interval_that_begins_too_low_is_widened]"]),
    Mutation("rounding of pairs of 16 bits is damped on odd sites",
             "return on_the_other_parity && of_pairs == Precision::fp16;", "return false;",
             ["tests/property/test_deflation.py::test_full_and_odd_systems_need_the_vectors_of_even_sites_alone[fp16]"]),
    Mutation("rounds of damped projections: the norm of a small residual is summed on a grid near it",
             "if (damps) next.source_norm2 = rounds.norm2();", "",
             ["tests/property/test_deflation.py::test_damped_projections_follow_falls_of_the_residual[fp64]"]),
    Mutation("damped projections are for all right-hand sides of a batch together",
             "deflated = active();", "deflated[i] = 1;",
             ["tests/property/test_deflation.py::test_damped_projections_follow_falls_of_the_residual[mixed-fp16]"]),
    Mutation("mixed precision: every update takes eigenvectors out of the residual",
             "Deflation::damped_drop : 1);", "Deflation::damped_drop : updates_.deflated);",
             ["tests/property/test_deflation.py::test_every_reliable_update_takes_the_vectors_out[fp16]"]),
    Mutation("eigenvalues of a file are found anew from its vectors",
             "if (values == Eigenvalues::recomputed) {", "if (values != Eigenvalues::as_given && r2 < 0) {", [DIGITS]),
    Mutation("a file that says other eigenvalues than its vectors have is refused",
             "if (!(std::fabs(header.values[i] - pairs.values[i]) <=", "if (!(0 * header.values[i] <=", [DIGITS]),
    Mutation("pairs of a file come into the order of their values",
             "if (std::is_sorted(order.begin(), order.end(), before)) return;", "if (!order.empty()) return;",
             ["tests/io/test_eigenvector_files.py::test_pairs_come_into_the_order_of_their_values"]),
    Mutation("numbers have a value from the start: a sum of complex numbers",
             "  Complex<double> sum{};\n  for (int j = 0; j < vectors.columns; ++j) {", "  Complex<double> sum;\n  for (int j = 0; j < vectors.columns; ++j) {",
             ["tests/structure/test_numbers_have_values.py::test_numbers_have_values_from_the_start"]),
    Mutation("pairs are certified by what the plain path finds",
             "accurate                      ? EigenOutcome::certified", "true ? EigenOutcome::certified",
             ["tests/property/test_eigenpairs.py::test_what_rounding_leaves_is_judged"]),
    # checkpoints
    Mutation("a checkpoint of another solve is refused",
             "found != printable(expected))", "found.empty())",
             ["tests/cli/test_checkpoints.py::test_state_of_another_solve_is_refused"]),
    Mutation("a checkpoint whose state is damaged is refused",
             "!same_hexadecimal(stored, crc_of_text(text))", "stored.empty()",
             ["tests/cli/test_checkpoints.py::test_damaged_state_is_noticed_and_the_one_before_used[number]"]),
    Mutation("a checkpoint of another version is refused by name",
             "found != version)", "found > version)",
             ["tests/cli/test_checkpoints.py::test_state_of_another_version_is_refused_by_name"]),
    Mutation("a list of another length is refused",
             "if (list.size() != length) here.fail(", "if (list.size() > length) here.fail(", [ARCHIVE + "[what_does_not_fit_is_named]"]),
    Mutation("a checkpoint keeps all bits of a number",
             '"%016llx", static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(number))',
             '"%016llx", static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(number + 0))', [ARCHIVE + "[all_types_come_back_with_all_bits]"]),
    Mutation("a checkpoint of eigenpairs keeps the projected matrix",
             'archive("h", h, h.size());', "",
             ["tests/mpi/test_eigen_checkpoints.py::test_search_goes_on_with_more_calls"]),
    Mutation("a checkpoint keeps the direction of mixed precision",
             "stop.keeper->restore({&x, &sloppy.p});", "stop.keeper->restore({&x, &sloppy.r});",
             ["tests/cli/test_checkpoints.py::test_resumed_solve_has_the_bits_of_one_in_one_piece[mixed-fp32]"]),
    Mutation("the certificate of a GPU: a backward hop across the boundary has the conjugate phase",
             "plain_term(factor, global_x_mu - leg.steps < 0, conjugate(phase), backward);",
             "plain_term(factor, global_x_mu - leg.steps < 0, phase, backward);",
             ["tests/unit/test_unit_checks.py::test_unit_check[second_text_has_the_bits_of_the_formula]"]),
    Mutation("even-odd: b' has the sign of D_eo b_o",
             "d_.combine(-1, x_, two_m, b_);", "d_.combine(1, x_, two_m, b_);", [EQUATION + "[full-fp64-18-]"]),
    Mutation("mixed precision iterates in the sloppy precision",
             "options.precision = options.sloppy.value_or(options.precision);", "options.precision = Precision::fp64;",
             ["tests/physics/test_mixed_precision.py::test_residuals_carry_the_rounding_of_the_sloppy_precision[12-fp32]"]),
    Mutation("mixed precision is what a solve does that is not told otherwise",
             "unsaid.sloppy_auto = true;", "unsaid.sloppy_auto = false;",
             ["tests/cli/test_outcomes.py::test_report_has_the_names_that_scripts_rely_on"]),
    # the operator
    Mutation("the hop: backward hops are subtracted",
             "    adjoint_multiply_subtract(out, u, v);\n  } else {", "    multiply_add(out, u, v);\n  } else {", HOP),
    Mutation("12 reals: the third row is a complex conjugate",
             "u.e[2][c] = {re, -im};", "u.e[2][c] = {re, im};", HOP),
    Mutation("boundary: antiperiodic fields change their sign",
             "crosses && is_antiperiodic(theta)", "crosses && !is_antiperiodic(theta)", HOP),
    Mutation("improved quarks: Naik terms have their coefficient",
             "return Real(links<set>().scale) * unit;", "return unit;", IMPROVED_HOP),
    Mutation("13 and 9 reals: the determinant has its sign",
             "*y = stored_with_bit<Stored>(value, turn);", "*y = stored_with_bit<Stored>(value, false);", IMPROVED_HOP),
    Mutation("GPU: a hop of three sites along x moves half of x by one or two",
             "((x & 1) == int(forward) ? 1 : -1)", "((x & 1) == int(forward) ? -1 : 1)",
             ["tests/unit/test_unit_checks.py::test_unit_check[hops_are_found_by_arithmetic]"]),
    Mutation("staggered phases: eta of x, y, z, t",
             "for (int nu = 0; nu < mu; ++nu) exponent += x[nu];", "for (int nu = 0; nu <= mu; ++nu) exponent += x[nu];",
             [EQUATION + "[full-fp64-18-]"]),
    Mutation("MILC's phases: the sign of (-1)^(t(x+y+z))",
             "(x[3] * (x[0] + x[1] + x[2])) & 1", "(x[3] + x[0] + x[1] + x[2]) & 1",
             ["tests/property/test_solver.py::test_milc_phases_are_an_exact_sign_away[full]"]),
    # fields of other codes
    Mutation("hosts: the order of CPS's staggered fields, t fastest",
             "x[3] + std::int64_t{n[3]} * (x[0] + std::int64_t{n[0]}", "x[0] + std::int64_t{n[0]} * (x[3] + std::int64_t{n[3]}",
             LAYOUTS + ["tests/interface/cps/test_cps.py::test_a_program_written_against_cps_gets_what_cps_promises[]"]),
    Mutation("hosts: CPS's Wilson vectors are odd first",
             "return even_odd_site(n, x, 1 - p);", "return even_odd_site(n, x, p);", LAYOUTS),
    Mutation("hosts: the phases of TIFR are a sign away from CPS's",
             "pairs += (x[mu] & 1) * (x[nu] & 1);", "pairs += (x[mu] & 1) + (x[nu] & 1);",
             ["tests/interface/test_fake_hosts.py::test_every_order_and_convention_has_the_bits_of_the_plain_host[1 1 1 1]"]),
    Mutation("hosts: links as given have the flux of staggered phases",
             "if ((there * conjugate(back)).re >= 0) bits", "if ((there * conjugate(back)).re >= 2) bits", GIVEN),
    Mutation("hosts: a full system of CPS stops on its even system",
             "request.stop = STAGHORN_STOP_ON_PARITY;", "request.stop = STAGHORN_STOP_ON_SYSTEM;",
             ["tests/interface/cps/test_cps.py::test_a_program_written_against_cps_gets_what_cps_promises[]"]),
    Mutation("CPS: fields that came with STAG links become CANONICAL", "return {!stag && converts, stag && converts};",
             "return {!stag && converts, false};", CPS),
    Mutation("CPS: the smallest shift goes into the mass, which anisotropy scales", "value += shift[0] * (scale * scale - 1);",
             "value += 0 * scale;", CPS),
    Mutation("CPS: asqtad takes the long links of CPS", "connection_->load_fields(links, this->Fields(0), this->Fields(1));",
             "connection_->load_fields(links, this->Fields(0), this->Fields(2));", CPS),
    Mutation("CPS: Staghorn's own fat links have the signs of CPS's coefficients", "-host::GJP.staple3_coeff(),",
             "host::GJP.staple3_coeff(),", CPS),
    Mutation("C: links whose bytes are the same stay", "now.bytes == before.bytes;", "now.bytes != before.bytes;",
             CPS + ["tests/interface/eigenpairs/test_eigenpairs.py"]),
    Mutation("C: eigenvectors are those of their numbers", "const int number = first + i;", "const int number = i;",
             CPS + ["tests/interface/eigenpairs/test_eigenpairs.py"]),
    Mutation("MILC: links that change in place are read again",
             "news_.read = any(links_ != hash);", "news_.read = any(!links_);", MILC),
    Mutation("MILC: what was solved with the last links is withheld where the hash beside it differs",
             "const bool changed = self.hash.get() != self.in_gauge;", "const bool changed = self.hash.get().fat.zero;", CHANGES),
    Mutation("MILC: a solve with the last links is stopped",
             "return self.hash.is_made() && self.hash.get() != self.in_gauge;", "return 0;", CHANGES),
    Mutation("names: a lock of a dead owner is removed after a second look",
             "const bool is_the_same = text_at(lock) == seen;", "const bool is_the_same = !seen.empty();",
             ["tests/unit/test_unit_checks.py::test_unit_check[of_many_that_take_over_a_lock_one_has_it]"]),
    Mutation("names: a lock whose owner lives stays", "if (life_of(*owner) != Life::over) refuse(*owner);",
             "if (life_of(*owner) == Life::elsewhere) refuse(*owner);",
             ["tests/unit/test_unit_checks.py::test_unit_check[a_name_has_one_writer_among_threads_and_processes]"]),
    Mutation("names: a job keeps what it claims until it ends", "locks_.push_back(std::move(trial.lock_));", "locks_.emplace_back();",
             ["tests/io/test_two_jobs.py::test_of_two_jobs_the_first_ends_well"]),
    Mutation("outputs: of files that belong together none is replaced alone",
             "for (auto file = done.rbegin(); file != done.rend(); ++file) file->undo();", "",
             ["tests/unit/test_unit_checks.py::test_unit_check[the_first_of_two_gets_its_old_file_back]"]),
    Mutation("outputs: a link that dangles is written through", "n < most_links && fs::is_symlink(file, error);",
             "n < most_links && fs::is_symlink(file, error) && fs::exists(file, error);",
             ["tests/unit/test_unit_checks.py::test_unit_check[a_link_that_dangles_is_written_through]"]),
    Mutation("campaigns: a large record is not written anew at each change", "whole_bytes_ < always_whole ||", "whole_bytes_ > 0 ||",
             ["tests/unit/test_unit_checks.py::test_unit_check[a_record_costs_a_few_times_its_size]"]),
    Mutation("campaigns: lines that a killed call added to its record count",
             "complete(json_of_text(path, later.substr(begin, end - begin),", "static_cast<void>(std::pair(begin,",
             ["tests/unit/test_unit_checks.py::test_unit_check[a_record_is_known_whenever_its_call_ends]"]),
    Mutation("campaigns: quiet calls tell errors", "if (quiet && part.failed &&", "if (!quiet && part.failed &&",
             ["tests/cli/test_campaigns.py::test_quiet_calls_tell_errors"]),
    Mutation("C: what is withheld is not written", "return all().any(of_host(call, true));", "return all().any(of_host(call, true)) && request.guess;",
             ["tests/interface/test_c_interface.py::test_in_one_process[withheld_solutions_are_not_written]"]),
    Mutation("C: outputs that share memory are refused",
             "pieces_[i].written && j < pieces_.size()", "false && j < pieces_.size()",
             ["tests/interface/test_c_interface.py::test_in_one_process[outputs_that_share_memory_are_refused]"]),
    Mutation("C: the two parities of one field share no byte",
             "return sum % 2 == parity;", "return true;",
             ["tests/interface/test_c_interface.py::test_in_one_process[parities_of_one_field_share_nothing]"]),
    Mutation("hosts that round upwards: the threads of OpenMP round to nearest, too",
             "if (depth_++ > 0 || omp_get_max_threads() == 1 || omp_in_parallel()) return;", "if (depth_++ >= 0) return;",
             ["tests/interface/surroundings/test_host_arithmetic.py::test_bits_are_those_of_a_plain_host[2-all-upward]"]),
    Mutation("hosts that trap: modes and flags are there again in every thread",
             "std::fesetenv(found_ ? &*found_ : &host);", "std::fesetenv(&host);",
             ["tests/interface/surroundings/test_host_arithmetic.py::test_bits_are_those_of_a_plain_host[3-others-traps]"]),
    Mutation("C: a solution that vectors of fp32 do not hold is not certified",
             "return norm2(communicator, lost, sites) <=", "return norm2(communicator, lost, sites) >= 0 * largest_share_lost || 0 <=",
             [SCALES + "test_vectors_of_fp32_that_cannot_hold_the_solution_are_named[-139]"]),
    Mutation("forks: a call of a child runs on a thread of its own",
             "bool came_through_a_fork() noexcept { return this_thread; }", "bool came_through_a_fork() noexcept { return false; }",
             ["tests/interface/surroundings/test_forks.py::test_children_have_the_bits_of_their_parent[2]"]),
    Mutation("forks: a child has no notes of threads that it does not have",
             "if (own_notes) own_notes->stay_alone();", "",
             ["tests/python/test_forks.py::test_children_of_a_process_with_threads_solve[waits-1]"]),
    Mutation("C: the norm of a source is that of its size",
             "return std::ldexp(b2, -2 * exponent * times);", "return b2 + 0 * times;",
             ["tests/interface/test_c_interface.py::test_in_one_process[norms_of_sources_of_any_size_are_told]"]),
    Mutation("ranks: what one refuses before the library is entered, all refuse",
             "throw LocalError(kind_of(status), text);", "throw LocalError(kind_of(status), \"\");",
             ["tests/interface/test_abuse.py::test_ranks_that_ask_for_different_things_hear_the_difference"]),
    Mutation("launchers: the number of processes that another MPI's launcher tells",
             "if (size > 1) return told(launcher.size);", "",
             ["tests/mpi/test_launchers.py::test_one_of_several_processes_refuses_to_do_the_whole_work"]),
    Mutation("MILC: signs that change two and two change the hash",
             "const auto step = [](Word state, Word word) { return rotated((state ^ word) * factor, 31); };",
             "const auto step = [](Word state, Word word) { return (state ^ word) * factor; };", MILC),
    Mutation("MILC: phases follow the origin", "layout.phases = STAGHORN_PHASES_AS_GIVEN;",
             "layout.phases = STAGHORN_PHASES_MILC;", MILC),
    Mutation("MILC: a target of 0 is not asked", ": request.tolerance_hq > 0 ? hardly_asked", ": request.tolerance_hq > 0 ? best_possible",
             MILC),
    Mutation("MILC: what lies in the solution is the guess", "request.guess = asked == Asked::parity;", "request.guess = 0;", MILC),
    Mutation("MILC: multigrid is asked of the whole system", "if (asked == Asked::full) request.system = STAGHORN_FULL;", "",
             [VECTORS + "::test_multigrid_solves_the_whole_system"]),
    Mutation("MILC: eigenvectors on odd sites have norm 1", "const double norm = std::sqrt(value);", "const double norm = value;",
             [VECTORS + "::test_eigenpairs_are_the_lowest"]),
    Mutation("MILC: contractions are added to what lies there", "correlators[i] += sums[i];", "correlators[i] = sums[i];",
             [VECTORS + "::test_contractions_add_what_they_find"]),
    Mutation("MILC: a shift both ways is the mean", "symmetry == 3 ? 0.5 : 1.0", "1.0",
             [VECTORS + "::test_shifts_are_one_step_or_the_mean_of_two"]),
    Mutation("MILC: smearing stays on its time slice", "const int only = args.laplaceDim == 4 ? -1 : args.t0;", "const int only = -1;",
             [VECTORS + "::test_smearing_is_over_two_links"]),
    Mutation("Smearing goes over two links", "paths.steps.push_back({step, step});", "paths.steps.push_back({step});",
             ["tests/physics/test_source_operators.py::test_operators_at_the_source_follow_the_equations"]),
    Mutation("C: each zeta of the spin counts", "(zetas + int(eps) + (directions >> mu & 1))", "(0 * zetas + int(eps) + (directions >> mu & 1))",
             [VECTORS + "::test_operators_are_those_of_mesons"]),
    Mutation("MILC: phases are taken out of links before loops are traced", "layout.phases = phase_in ? STAGHORN_PHASES_MILC : STAGHORN_PHASES_NONE;",
             "layout.phases = STAGHORN_PHASES_NONE;", MILC_PROGRAM),
    Mutation("MILC: so is the sign of the time boundary", "layout.boundary_in = phase_in;", "layout.boundary_in = 0;", MILC_PROGRAM),
    Mutation("MILC: the steps 4 to 7 lead back along t to x", "path.push_back(step < 4 ? step : step - 8);",
             "path.push_back(step < 4 ? step : 3 - step);", MILC_PROGRAM),
    Mutation("MILC: the diagonal of a momentum counts half", "complex_part + diagonal / 2 - 4", "complex_part + diagonal - 4", MILC_PROGRAM),
    Mutation("MILC: links keep their sign when they are projected", "if (turned) change_sign(u);\n  return unitarity",
             "return unitarity", MILC_PROGRAM),
    Mutation("loops: a step back is by the adjoint of the link behind", "product[x] = adjoint(links[x][mu]) * from[x];",
             "product[x] = links[x][mu] * from[x];", MILC_PROGRAM),
    Mutation("MILC: coefficients come in its order", "{weights[0], weights[2], weights[3],", "{weights[0], weights[3], weights[2],",
             ["tests/interface/milc/test_milc_interface.py::test_fat_and_long_links_have_the_bits_of_the_program[hisq]"]),
    # sums and ranks
    Mutation("exact sums: the low limb carries into the next",
             "(std::int64_t{1} << limb_bits)) + limb[0];", "(std::int64_t{1} << limb_bits)) + (limb[0] & limb_mask);",
             [BITS + "[2ranks-1threads-auto]"]),
    Mutation("dot products: the left vector is conjugated",
             "return {rr + ii, (rr - ii) - mixed};", "return {rr + ii, mixed - (rr - ii)};",
             ["tests/unit/test_unit_checks.py::test_unit_check[products_and_combinations_baseline]"]),
    Mutation("faces: each goes to the neighbour on its side",
             "from = face % 2 == 0 ? +1 : -1;\n    FaceChannel", "from = face % 2 == 0 ? -1 : +1;\n    FaceChannel", [BITS + "[4ranks-1threads-4,1,1,1]"]),
    Mutation("faces: they lie in the order of their sender",
             "emplace(lattice_.of_rank(sender), layout.lanes())", "emplace(lattice_.of_rank(0 * sender + lattice_.rank()), layout.lanes())",
             ["tests/mpi/test_uneven_slabs.py::test_solutions_have_the_bits_of_one_rank[16-x=1:3,y=1:3,z=1:2,t=1:3-few]"]),
    Mutation("shares by measurement: a further pair of sites goes to the slab that then takes least time",
             "std::min_element(with_pair.begin(), with_pair.end())", "std::max_element(with_pair.begin(), with_pair.end())",
             ["tests/mpi/test_measured_shares.py::test_auto_is_the_best_share"]),
    Mutation("slabs: each row of a file goes to the rank of its slab",
             "lattice_.slab_of(2, z) + grid[2]", "std::min(z / lattice_.local()[2], grid[2] - 1) + grid[2]",
             ["tests/mpi/test_uneven_slabs.py::test_solutions_have_the_bits_of_one_rank[16-x=1:3,y=1:3,z=1:2,t=1:3-few]"]),
    Mutation("a failed call of MPI is an error",
             "if (done && mpi_call_is_to_fail()) code = MPI_ERR_OTHER;", "if (done && mpi_call_is_to_fail()) code = MPI_SUCCESS;",
             ["tests/mpi/test_faults.py::test_a_failed_mpi_call_of_one_rank_ends_all[20-0]"]),
    Mutation("failures: all ranks tell the error of the rank that failed",
             "int first = mine ? rank_ : ranks_;", "int first = rank_;",
             ["tests/interface/test_abuse.py::test_a_call_of_mpi_that_fails_on_one_rank_is_an_error_of_all[1-0-2-False]"]),
    # sources
    Mutation("sources: an even wall is even",
             "return x[3] == spec.site[3] && Lattice::parity_of(x) == Parity::even;",
             "return x[3] == spec.site[3] && Lattice::parity_of(x) == Parity::odd;",
             ["tests/physics/test_sources.py::test_source_is_one_where_it_is_defined[even-wall:3]"]),
    Mutation("sources: each noise vector has a stream of its own",
             "RandomPurpose::z2_noise, std::uint32_t(number)", "RandomPurpose::z2_noise, std::uint32_t(0 * number)",
             ["tests/physics/test_sources.py::test_z2_noise_is_a_sign_everywhere"]),
    Mutation("sources: noise belongs to the global site",
             "RandomStream random(spec.seed, RandomPurpose::gaussian_noise, std::uint32_t(number), std::uint64_t(global));",
             "RandomStream random(spec.seed, RandomPurpose::gaussian_noise, std::uint32_t(number), std::uint64_t(site));",
             ["tests/physics/test_sources.py::test_source_does_not_depend_on_the_process_grid[gaussian:5]"]),
    # files
    Mutation("gauge files: a checksum that differs is an error",
             "same_number(found->second, value)}", "true}", ["tests/io/test_damaged_files.py::test_reader_rejects_flipped_bit[milc-1]"]),
    Mutation("gauge files: a checksum that is absent is an error",
             'ChecksumResult{"", value, false}', 'ChecksumResult{"", value, true}',
             ["tests/io/test_damaged_files.py::test_absent_checksum_is_refused_unless_no_verify_says_otherwise[hdf5-no-checksum]"]),
    Mutation("gauge files: links outside SU(3) are refused",
             "unitarity_tolerance = 1e-5;", "unitarity_tolerance = 1;", ["tests/cli/test_bad_input.py::test_links_that_are_not_unitary[1.0001---reunitarize]"]),
    Mutation("gauge files: what has nothing to compare with is unverified",
             "{\"\", fixed_digits(checks.plaquette->all, 12), false}", "{\"1\", fixed_digits(checks.plaquette->all, 12), true}",
             ["tests/io/test_damaged_files.py::test_kyu_files_must_fit_the_lattice[4x6x8x10-words1]"]),
    Mutation("gauge files: links of openQCD's even sites lie at the site ahead",
             "ahead(communicator, behind, mu, +1)", "ahead(communicator, behind, mu, -1)",
             ["tests/io/test_formats.py::test_reader_agrees_with_numpy[openqcd]"]),
    Mutation("gauge files: sites of a volume lie where its list says",
             "(run->place + within) * bytes_per_site", "run->place * bytes_per_site",
             ["tests/io/test_volumes.py::test_links_in_volumes_are_those_of_one_file[slabs-4]"]),
    Mutation("packed eigenvectors: the even sites of t + T/2 lie one step back in x",
             "(x + extent - 1) % extent", "x ^ 1", ["tests/io/test_eigenvector_files.py::test_packed_form_is_written_and_read[64]"]),
    Mutation("inspect: numbers that are damaged end with an error",
             "finite = finite && std::fabs(reals[k]) <= largest_stored;",
             "finite = finite && !(std::fabs(reals[k]) > largest_stored);",
             ["tests/io/test_unsound_numbers.py::test_inspect_ends_with_an_error_for_links_that_are_not_finite[nan-ildg-]"]),
    Mutation("inspect: links of an impossible size end with an error",
             "large += finite && most > largest;", "large += !finite && most > largest;",
             ["tests/io/test_unsound_numbers.py::test_inspect_ends_with_an_error_for_links_that_are_not_finite[large-ildg-]"]),
    Mutation("writers: links that would be refused are not written",
             "fault_of_links(communicator, links, header.precision)", "std::string()",
             ["tests/io/test_unsound_numbers.py::test_convert_writes_no_file_that_would_be_refused[a.h5]"]),
    Mutation("eigenvectors: NaN among them is seen",
             "if (std::isnan(departure) || departure > largest)", "if (departure > largest)",
             ["tests/io/test_unsound_numbers.py::test_eigenvectors_that_are_not_of_norm_1_are_told"]),
    Mutation("names of any bytes: JSON is UTF-8",
             "change_texts(json, reversible_text);", "", ["tests/io/test_names_of_any_bytes.py::test_solves_report_files_of_any_name"]),
    Mutation("names of any bytes: those of an earlier report are found again",
             "change_texts(json, bytes_of);", "", ["tests/io/test_names_of_any_bytes.py::test_a_campaign_knows_its_files_again"]),
    Mutation("names of any bytes: a half of a UTF-16 pair is no character",
             "first == 0xed ? 0x9f", "first == 0xee ? 0x9f", ["tests/io/test_names_of_any_bytes.py::test_names_are_told_and_read_back"]),
    Mutation("exceptions of libraries are called a fault of Staghorn",
             "message = words.text;", "message = failure.what();",
             ["tests/unit/test_unit_checks.py::test_unit_check[exceptions_of_libraries_say_where_they_come_from]"]),
    Mutation("JSON: what is nested deeply is refused",
             "if (depth > deepest)", "if (depth < 0)", ["tests/report/test_deep_json.py"]),
    Mutation("HDF5: a chunk is kept for later slabs",
             "set_chunk_cache(access, id, dataset, what);", "if (what.empty()) set_chunk_cache(access, id, dataset, what);",
             ["tests/io/test_files_of_others.py::test_a_chunk_is_kept_for_the_slabs_that_need_it"]),
    Mutation("HDF5: consecutive values are boxes that begin where the one before ended",
             "start[k] = hsize_t(rest % dataset_.shape[k]);", "start[k] = k + 1 == d ? hsize_t(rest % dataset_.shape[k]) : 0;",
             ["tests/io/test_files_of_others.py::test_chunks_of_any_shape_give_the_same_links"]),
    Mutation("HDF5: a child meets a file first",
             "if (program.empty()) return walk_hdf5(path, wanted);", "if (program.empty() || !path.empty()) return walk_hdf5(path, wanted);",
             ["tests/io/test_hdf5_probe.py::test_a_file_that_kills_the_library_is_a_message"]),
    Mutation("LIME: padding may be missing",
             "padding > 0 && begins_record(at - padding)", "padding < 0 && begins_record(at - padding)",
             ["tests/io/test_files_of_others.py::test_padding_of_lime_may_be_missing"]),
    Mutation("LIME: a checksum in front of the numbers is theirs",
             "next.checksums = std::exchange(sums, {});", "sums.clear();",
             ["tests/io/test_files_of_others.py::test_the_checksum_of_lime_may_stand_before_the_data"]),
    Mutation("XML: comments do not count", 'rest.starts_with("<!--")', 'rest.starts_with("<!==")',
             ["tests/io/test_files_of_others.py::test_xml_is_read_as_xml[comment]"]),
    Mutation("NERSC: behind a carriage return that ends all lines the links begin",
             "blanks = end.line_end == '\\n' ? \" \\t\\r\" : \" \\t\";", "blanks = \" \\t\\r\";",
             ["tests/io/test_files_of_others.py::test_nersc_headers_may_have_carriage_returns_alone"]),
    Mutation("HDF5: a shape that fits two orders needs a checksum",
             "const bool fits_both = shape[0] == 4 &&", "const bool fits_both = shape[0] < 0 &&",
             ["tests/io/test_files_of_others.py::test_hdf5_whose_shape_fits_two_orders_needs_a_checksum"]),
    Mutation("gauge files: the byte order is the one in which the first row has norm one",
             "header.big_endian = !header.big_endian;", "",
             ["tests/io/test_files_of_others.py::test_nersc_headers_as_other_programs_write_them[other byte order]"]),
    # mixed precision
    Mutation("mixed precision: an update scales the direction with the residual",
             "-along[i] * (exact2[i] / r2[i])", "-along[i]",
             ["tests/physics/test_mixed_precision.py::test_small_isolated_eigenvalues_are_not_forgotten[fp16-1300-0.05]"]),
    Mutation("mixed precision: updates follow the mismatch",
             "if (factor < 1 || iterations >= interval_)", "if (iterations < 0)",
             ["tests/unit/test_unit_checks.py::test_unit_check[updates_are_as_far_apart_as_the_mismatch_allows]"]),
    Mutation("block CG in mixed precision: an update keeps the directions",
             "kept = adjoint(k);", "kept = ComplexMatrix(k.rows, k.columns);",
             ["tests/physics/test_block_cg.py::test_mixed_precision_keeps_its_directions"]),
    Mutation("mixed precision: what gains nothing in low precision gives way to fp64",
             "if (broke_down || !gains) rhs_[i].active", "if (broke_down) rhs_[i].active",
             ["tests/unit/test_unit_checks.py::test_unit_check[low_precision_that_gains_nothing_gives_way]"]),
    # GPUs
    Mutation("the form of the loop that is asked for runs",
             "if (asked == LoopChoice::two ||", "if (asked != LoopChoice::two ||", ["tests/gpu/test_cg_kernels.py"], gpu=True),
]


def sources() -> list[Path]:
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                           text=True, check=True).stdout.splitlines()
    return [Path(name) for name in names if (ROOT / name).is_file()]


def copy_tree():
    """The files of the project as they are now. A file that is already there keeps its time, so that it is not built again."""
    wanted = sources()
    for path in wanted:
        content = (ROOT / path).read_bytes()
        copy = TREE / path
        if copy.is_file() and copy.read_bytes() == content:
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)
        shutil.copymode(ROOT / path, copy)
    for path in [path for path in TREE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]:
        if path.relative_to(TREE) not in set(wanted):
            path.unlink()


def files_of(mutations: list[Mutation]) -> list[Path]:
    """The one file that holds the text of each mutation, from the root."""
    texts = {path: (ROOT / path).read_text() for path in sources() if path.suffix in CODE and path.parts[0] != "tests"}
    files, wrong = [], []
    for mutation in mutations:
        found = [path for path, text in texts.items() for _ in range(text.count(mutation.old))]
        files += found[:1]
        if len(found) != 1:
            wrong.append(f"'{mutation.rule}': expected its text once, found it {len(found)} times: {mutation.old}")
    if wrong:
        sys.exit("\n".join(wrong))
    return files


def run(command: list, log: Path, **how) -> int:
    with log.open("a") as out:
        print("$", *command, file=out, flush=True)
        return subprocess.run([str(word) for word in command], stdout=out, stderr=subprocess.STDOUT, **how).returncode


def build(folder: Path, targets: list[str], log: Path) -> bool:
    return run(["ninja", "-C", folder, "-j", os.environ.get("STAGHORN_JOBS", str(os.cpu_count())), *targets], log) == 0


def configure(folder: Path, log: Path, *options: str):
    if not (folder / "build.ninja").is_file() and run(
            ["cmake", "-S", TREE, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", *options], log):
        sys.exit(f"cmake failed: {log}")


def programs(mutation: Mutation) -> list[str]:
    """The targets of the build that a mutation's tests need. The build for GPUs is made without Python."""
    if mutation.gpu:
        return ["staghorn"]
    needed = {"unit": ["unit_checks"], "interface": ["staghorn", "unit_checks", "fake_hosts", "cps_program", "cps_beside", "eigenpair_host", "milc_host", "milc_changes", "one_process",
                                                         "host_arithmetic", "forked_host", "unlike_requests"]}
    names = {test.split("/")[1] for test in mutation.tests}
    return sorted({target for name in names for target in needed.get(name, ["staghorn", "staghorn_python"])})


def failing_tests(tests: list[str], folder: Path, log: Path) -> tuple[int, str]:
    """(exit status of pytest, the first test that failed), with the program built in `folder`."""
    environment = {**os.environ, "STAGHORN_PROGRAM": str(folder / "staghorn"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests], cwd=TREE, env=environment,
                          capture_output=True, text=True)
    with log.open("a") as out:
        print(done.stdout, done.stderr, file=out)
    failed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return done.returncode, failed[0] if failed else ""


def has_gpu() -> bool:
    return bool(shutil.which("nvidia-smi")) and subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0


def check(mutation: Mutation, file: Path, cuda: bool, log: Path) -> tuple[bool, str]:
    """Whether a test notices the mutation, and which. One that cannot run here passes, and says so."""
    if mutation.gpu and not cuda:
        return True, "not compiled: --cuda compiles it"
    original = (TREE / file).read_text()
    (TREE / file).write_text(original.replace(mutation.old, mutation.new))
    try:
        folder = BUILD_CUDA if mutation.gpu else BUILD
        if not build(folder, programs(mutation), log):
            return False, f"does not compile: {log}"
        if mutation.gpu and not has_gpu():
            return True, "compiles; no GPU to run tests on"
        status, failed = failing_tests(mutation.tests, folder, log)
        if status == 1:
            return True, failed
        return False, "NOT NOTICED" if status == 0 else f"pytest ended with {status}: {log}"
    finally:
        (TREE / file).write_text(original)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print rules, files and tests, and run nothing")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="only rules with one of these words")
    parser.add_argument("--cuda", action="store_true", help="compile the mutations of the GPU's code too")
    options = parser.parse_args()
    mutations = [m for m in MUTATIONS if not options.only or any(word in m.rule for word in options.only)]
    chosen = list(zip(mutations, files_of(mutations)))
    if options.list:
        for mutation, file in chosen:
            print(f"| {mutation.rule} | `{file}` | `{' '.join(mutation.tests)}` |")
        return 0

    FOLDER.mkdir(exist_ok=True)
    log = FOLDER / "log"
    log.write_text("")
    copy_tree()
    configure(BUILD, log, "-DSTAGHORN_CUDA=OFF", "-DSTAGHORN_PYTHON=ON",
              f"-DPython_EXECUTABLE={sys.executable}")
    if options.cuda:
        configure(BUILD_CUDA, log, "-DSTAGHORN_CUDA=ON", "-DSTAGHORN_CUDA_ARCHITECTURES=90-real", "-DSTAGHORN_PYTHON=OFF")
    wanted = sorted({target for m in mutations if not m.gpu for target in programs(m)})
    if not build(BUILD, wanted, log):
        sys.exit(f"the sources as they are do not compile: {log}")
    guards = sorted({test for m in mutations if not m.gpu for test in m.tests})
    status, failed = failing_tests(guards, BUILD, log) if guards else (0, "")
    if status:
        sys.exit(f"the sources as they are fail: {failed or log}")
    missed = 0
    for mutation, file in chosen:
        start = time.monotonic()
        noticed, what = check(mutation, file, options.cuda, log)
        missed += not noticed
        print(f"{'noticed' if noticed else 'MISSED ':8} {mutation.rule}  [{file}, {time.monotonic() - start:.0f} s]\n         {what}", flush=True)
    build(BUILD, wanted, log)
    print(f"{len(chosen) - missed} of {len(chosen)} mutations noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
