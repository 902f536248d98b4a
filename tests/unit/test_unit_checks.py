"""Single C++ functions, and the kernels against the plain operator: each check of the program unit_checks is one test.

The hop checks run every precision, link form, 1 to 5 right-hand sides and all subsets of cut directions in one go."""

import pytest

CHECKS = [
    "philox_gives_the_published_words",
    "logarithm_is_within_one_unit_in_the_last_place",
    "random_numbers_have_their_moments",
    "projected_matrices_are_in_su3",
    "eight_reals_hold_any_link",
    "heatbath_draws_have_the_exact_mean",
    "overrelaxation_keeps_the_action",
    "exact_sum_does_not_depend_on_the_order",
    "exact_sum_does_not_depend_on_the_partition",
    "exact_sum_is_the_sum_of_whole_numbers",
    "exact_sum_reports_what_is_not_a_number",
    "exact_sum_detects_what_does_not_fit",
    "lane_sums_are_the_plain_sums",
    "plain_hop_has_the_bits_of_its_formula",
    "plain_hop_to_one_parity_leaves_the_other_alone",
    "norms_by_parity_are_exact_sums",
    "running_sum_chooses_its_grid_by_the_previous_value",
    "process_grid_has_the_least_surface",
    "slots_and_sites_are_one_to_one",
    "reals_of_a_block_are_one_to_one",
    "neighbours_of_virtual_nodes_share_a_block",
    "placements_are_permutations_that_keep_rank_0",
    "hosts_hold_the_boxes_with_most_area_within",
    "eight_by_two_ranks_on_four_hosts",
    "process_grid_leaves_least_area_between_hosts",
    "weak_series_lengthen_the_shortest_direction",
    "a_key_tells_all_that_a_choice_depends_on",
    "known_launches_survive_what_cannot_be_read",
    "every_choice_can_be_remembered",
    "launches_are_added_to_the_file",
    "a_file_that_cannot_be_written_is_reported",
    "the_file_is_in_the_cache_folder",
    "candidates_divide_the_right_hand_sides",
    "a_launch_takes_the_largest_tile_that_it_may",
    "a_choice_must_gain_two_per_cent",
    "blocks_visit_each_chunk_once",
    "teams_visit_each_chunk_once",
    "digits_are_those_of_division",
    "slabs_hold_each_site_once",
    "sums_of_threads_are_exact",
]
HOP_CASES = [
    "2x2x2x2_periodic_periodic_periodic_antiperiodic",
    "4x6x8x10_periodic_periodic_periodic_antiperiodic",
    "4x6x2x10_0.3_-0.5_antiperiodic_0.125",
    "6x6x2x6_antiperiodic_periodic_periodic_periodic",
    "8x8x4x4_periodic_periodic_periodic_antiperiodic",
    "8x8x4x4_0.3_-0.5_antiperiodic_0.125",
    "2x16x4x2_periodic_antiperiodic_periodic_0.7",
]
CHECKS += [f"hop_{kernels}_{case}" for kernels in ("baseline", "avx2", "avx512", "cuda") for case in HOP_CASES]
CG_CASES = [(precision, mass) for precision in ("fp64", "fp32", "fp16") for mass in ("0.3", "10", "100")]
CG_CASES.remove(("fp16", "100"))
CHECKS += [f"cg_{where}_{precision}_mass_{mass}" for where in ("cpu", "cuda_one", "cuda_two")
           for precision, mass in CG_CASES if (where, precision) != ("cuda_one", "fp16")]
CANNOT_RUN = 77


@pytest.mark.parametrize("check", CHECKS)
def test_unit_check(run_built, check):
    result = run_built("unit_checks", check)
    if result.returncode == CANNOT_RUN:
        pytest.skip(result.stdout.strip())
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_unit_check_is_run(run_built):
    assert sorted(run_built("unit_checks").stdout.split()) == sorted(CHECKS)
