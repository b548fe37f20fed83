"""The lines of the fault list, and the tests that cover each of them.

A test is `file::name`, of this folder or under the one above; `file::name[case]` is that of a case,
and of those that begin with its words.
"""

from __future__ import annotations

I, F, O = "test_input.py", "test_input_forms.py", "test_input_options.py"
S, W, U = "test_structure.py", "test_structure_operators.py", "test_structure_scales.py"
E, R = "test_numerics.py", "test_numerics_sketch.py"
CONTROL, RESUME = "driver/test_control.py", "io/checkpoint/test_resume_solve.py"
DISK, ABOUT, BOX = (
    "io/checkpoint/test_crashes.py",
    "io/checkpoint/test_about.py",
    "io/checkpoint/test_container.py",
)
FILES, COMMAND = "faults/test_files.py", "faults/test_files_command.py"

INPUT = {
    "NaN in C": [f"{I}::test_nan_in_c_is_refused", f"{I}::test_nan_in_a_sparse_c_is_refused"],
    "infinity in b": [f"{I}::test_inf_in_b_is_refused"],
    "NaN among bounds": [f"{I}::test_nan_bounds_are_refused"],
    "a lower bound above the upper": [f"{I}::test_l_above_u_is_refused"],
    "an infinite bound on the wrong side": [f"{I}::test_infinity_on_the_wrong_side_is_refused"],
    "shapes that do not fit": [
        f"{I}::test_wrong_shapes_are_refused",
        f"{I}::test_wrong_shapes_of_pieces_are_refused",
    ],
    "a matrix that is not square": [f"{I}::test_what_is_not_square_is_refused"],
    "a C that is not symmetric": [f"{I}::test_an_asymmetric_c_is_refused"],
    "a complex Hermitian C": [
        f"{F}::test_complex_hermitian_data_are_solved_on_hermitian_matrices",
        f"{F}::test_complex_hermitian_data_on_real_matrices_are_refused_by_name",
        f"{I}::test_complex_data_are_refused_by_name_where_they_mean_nothing",
    ],
    "integer dtype": [f"{F}::test_integer_object_and_float32_dtypes_are_taken[integer]"],
    "bool dtype": [f"{F}::test_bool_dtype_is_taken"],
    "object dtype": [f"{F}::test_integer_object_and_float32_dtypes_are_taken[object]"],
    "single precision": [f"{F}::test_integer_object_and_float32_dtypes_are_taken[float32]"],
    "arrays that may not be written to": [
        f"{F}::test_read_only_strided_and_fortran_ordered_arrays_are_taken[read-only]"
    ],
    "arrays with strides": [
        f"{F}::test_read_only_strided_and_fortran_ordered_arrays_are_taken[strided]"
    ],
    "arrays column by column": [
        f"{F}::test_read_only_strided_and_fortran_ordered_arrays_are_taken[fortran-ordered]"
    ],
    "COO entries given twice": [
        f"{F}::test_duplicate_coo_entries_unsorted_csr_and_explicit_zeros_are_taken"
        "[duplicate COO entries]"
    ],
    "CSR out of order": [
        f"{F}::test_duplicate_coo_entries_unsorted_csr_and_explicit_zeros_are_taken[unsorted CSR]"
    ],
    "an index beyond the matrix": [
        f"{I}::test_an_index_out_of_range_is_refused",
        f"{I}::test_an_index_out_of_range_of_a_sparse_matrix_is_refused",
    ],
    "more entries than 32 bits count": [f"{F}::test_int32_overflow_in_nnz_does_no_harm"],
    "zeros that are stored": [
        f"{F}::test_duplicate_coo_entries_unsorted_csr_and_explicit_zeros_are_taken[explicit zeros]"
    ],
    "a matrix of no entries": [f"{I}::test_an_empty_matrix_is_refused"],
    "a trace of 0 or less, or NaN": [f"{O}::test_alpha_that_is_not_positive_is_refused"],
    "lam0 of 0 or less": [f"{O}::test_lam0_that_is_not_positive_is_refused"],
    "tol below 0, or NaN": [f"{O}::test_a_tol_that_is_negative_or_nan_is_refused"],
    "no iterations at all": [f"{O}::test_max_iters_of_0_is_refused"],
    "the caller's arrays stay as they are": [
        f"{F}::test_the_callers_arrays_are_never_changed_by_a_builder",
        f"{F}::test_the_callers_arrays_are_never_changed_by_a_solve",
        f"{F}::test_the_callers_arrays_are_never_changed_by_a_method",
    ],
    "exit code 2, no traceback, no file": [
        f"{O}::test_the_command_refuses_with_exit_code_2_and_leaves_no_file"
    ],
}

# The name of a structure begins with its line.
OF_STRUCTURES = (
    "n = 1",
    "n = 2",
    "no constraints",
    "C = 0",
    "A = 0",
    "zero row with b != 0",
    "duplicate constraints",
    "contradictory constraints",
    "dependent rows",
    "a constraint equal to the trace",
    "infeasible trace",
    "feasible only on the boundary",
    "lambda_min exactly 0, at most",
    "lmo ties",
    "isolated vertices",
    "disconnected graph",
    "negative weights",
    "self-loops",
    "multi-edges",
    "row norms 1e8 apart",
    "b = 0",
)
STRUCTURE = {
    phrase: [f"{S}::test_it_is_solved_right[{phrase}]", f"{S}::test_no_method_claims_what_is_false"]
    for phrase in OF_STRUCTURES
} | {
    "feasible only on the boundary": [
        f"{S}::test_what_has_no_slater_point_is_solved_as_well_as_can_be"
        "[feasible only on the boundary]"
    ],
    "C times 1e12 and 1e-12": [
        f"{U}::test_c_scaled_by_1e12_and_1e_12_has_the_same_relative_answer",
        f"{U}::test_c_scaled_by_1e12_with_an_optimum_of_0_comes_to_rest",
    ],
    "a wrong adjoint": [
        f"{W}::test_a_map_whose_adjoint_is_wrong_is_found_by_the_public_checker",
        f"{W}::test_a_map_whose_adjoint_is_wrong_is_found_within_a_problem",
    ],
    "an operator that gives NaN": [
        f"{W}::test_an_operator_that_returns_nan_is_named",
        "driver/test_faults.py::test_operators_within_our_own_pieces",
    ],
    "an operator that raises": [
        f"{W}::test_an_operator_that_raises_is_named_and_what_was_reached_is_kept",
        "linalg/test_operator_faults.py::test_the_operator_is_named_when_it_is_made_something_of",
    ],
    "an operator that changes its mind": [
        f"{W}::test_an_operator_that_is_not_deterministic_is_found_by_the_public_checker",
        f"{W}::test_an_operator_that_is_not_deterministic_ends_no_solve_in_a_crash",
    ],
}

NUMERICS = {
    "a start vector of zeros": [f"{E}::test_a_zero_start_vector"],
    "an eigenvector to start from": [f"{E}::test_an_eigenvector_as_start"],
    "a Krylov space that ends": [f"{E}::test_lanczos_breakdown"],
    "eigenvalues that are equal, or nearly": [f"{E}::test_multiplicity_and_clusters"],
    "eigenvalues that come back": [f"{E}::test_loss_of_orthogonality_and_ghosts"],
    "Ax carried along for 1e5 steps": [f"{E}::test_drift_of_ax_over_1e5_steps"],
    "a dual step of d = 0": [f"{E}::test_d_of_0_in_the_dual_step"],
    "a penalty that overflows": [
        f"{E}::test_overflow_of_lam_ends_a_solve_by_name",
        f"{E}::test_overflow_of_lam_is_refused_where_it_is_given",
    ],
    "a sketch of more columns than rows": [f"{R}::test_sketch_r_above_n"],
    "a sketch of nothing": [f"{R}::test_an_all_zero_sketch"],
    "a rank below that of the sketch": [f"{R}::test_rank_below_r"],
    "more trace than there is": [f"{R}::test_a_negative_trace_correction"],
    "one thread and two": [f"{R}::test_1_thread_against_2"],
    "one seed, one answer": [f"{R}::test_the_same_seed_twice_gives_the_same_answer"],
}

CONTROLLED = {
    "Ctrl-C within a product": [f"{CONTROL}::test_ctrl_c_inside_a_matvec_returns_the_best_iterate"],
    "a second Ctrl-C": [f"{CONTROL}::test_a_second_ctrl_c_raises"],
    "the handlers afterwards": [
        f"{CONTROL}::test_a_raising_callback_is_raised_and_the_handlers_are_restored",
        f"{CONTROL}::test_a_handler_that_somebody_has_set_stays",
    ],
    "a thread that is not the main one": [
        f"{CONTROL}::test_a_solve_in_another_thread_leaves_signals_alone"
    ],
    "a callback that raises": [
        f"{CONTROL}::test_a_raising_callback_is_raised_and_the_handlers_are_restored"
    ],
    "a time limit within the oracle": [f"{CONTROL}::test_a_time_limit_in_the_middle_of_an_lmo"],
    "too little memory, before it is taken": [
        f"{CONTROL}::test_a_memory_estimate_is_refused_before_allocating"
    ],
    "killed anywhere in writing": [
        f"{DISK}::test_killed_before_any_line_of_a_write_the_last_good_one_is_there",
        "io/checkpoint/test_kills.py::test_a_solve_that_is_killed_goes_on_and_is_never_wrong",
    ],
    "a full disk": [
        f"{DISK}::test_a_full_disk_leaves_the_last_good_one",
        f"{RESUME}::test_where_a_disk_is_full_the_solve_goes_on_and_says_so_once",
    ],
    "a folder that may not be written to": [
        f"{DISK}::test_a_folder_that_may_not_be_written_leaves_the_last_good_one",
        f"{DISK}::test_a_folder_on_a_disk_that_is_read_only_leaves_the_last_good_one",
    ],
    "a resumed run is the uninterrupted one": [
        f"{RESUME}::test_a_resumed_solve_is_that_of_one_that_was_left_alone",
        "io/checkpoint/test_known_classes.py::test_a_method_goes_on_from_a_checkpoint_bit_for_bit",
    ],
    "resumed with other data": [
        f"{ABOUT}::test_other_data_are_refused",
        f"{RESUME}::test_other_data_are_refused",
        "cli/test_cli_resume.py::test_resume_with_other_data_is_refused",
    ],
    "resumed by another version": [f"{ABOUT}::test_another_condal_is_refused"],
    "resumed with another dtype": [f"{ABOUT}::test_another_dtype_is_refused"],
    "two writers": [
        "io/checkpoint/test_writers.py::test_a_second_writer_is_refused_while_the_first_lives",
        "io/checkpoint/test_writers.py::test_two_processes_at_once_never_mix",
    ],
}

# The faults for which each format has a cell in a table.
CELLS = (
    "trailing garbage",
    "bad banner",
    "0-based index",
    "lower-triangle entries",
    "off-diagonal entry in a diagonal block",
    "duplicates",
    "count mismatch",
    "a header that claims 10^12 rows",
    "1e999",
    "nan",
    "D-exponents",
)
IN_FILES = {phrase: [f"{FILES}::test_files_with[{phrase}]"] for phrase in CELLS} | {
    "cut off": [f"{FILES}::test_truncated_at_every_cut", f"{FILES}::test_truncated_when_packed"],
    "CRLF and a byte order mark": [f"{FILES}::test_crlf_and_bom"],
    "a small file that unpacks to a large one": [
        f"{FILES}::test_gzip_and_xz_bomb",
        f"{FILES}::test_bomb_of_an_archive",
    ],
    "128 bytes that claim 32 GiB": [f"{FILES}::test_a_128_byte_npy_that_claims_32_gib"],
    "a pickle": [f"{FILES}::test_pickle_payload"],
    "a symbolic link": [f"{FILES}::test_symlink"],
    "a path through the folder above": [
        f"{FILES}::test_archives_with",
        f"{COMMAND}::test_a_path_with_dots_is_just_a_path",
    ],
    "a pipe": [f"{FILES}::test_fifo_and_folder"],
    "an edge that METIS has once": [f"{FILES}::test_metis_edge_given_once"],
    "an empty line of METIS": [f"{FILES}::test_blank_metis_line_is_an_isolated_vertex"],
    "a rudy line without a weight": [f"{FILES}::test_rudy_line_without_a_weight"],
    "markup in a name": [
        f"{COMMAND}::test_html_in_a_problems_name_shown_in_a_report",
        "report/test_page.py::test_markup_in_names_is_text",
    ],
    "a formula in a cell": [
        f"{FILES}::test_a_formula_in_a_csv_cell",
        f"{COMMAND}::test_a_formula_is_never_written_to_a_csv_cell",
    ],
    "readers that are fuzzed": ["faults/test_fuzz.py::test_readers_are_fuzzed"],
    "sizes looked at before memory is taken": [
        "faults/test_files_memory.py::test_a_file_that_asks_for_much_is_refused_before_it_has_it"
    ],
}

IN_CHECKPOINTS = {
    "no pickle": [
        "io/checkpoint/test_packing.py::test_what_is_not_condals_own_is_refused_by_name",
        f"{FILES}::test_pickle_payload",
    ],
    "a header with lengths and digests": [
        f"{BOX}::test_the_layout_is_what_the_page_says",
        f"{BOX}::test_a_header_that_fits_its_digest_but_not_its_file_is_refused",
        "io/checkpoint/test_bad_disk.py::test_a_byte_that_changes_is_seen_wherever_it_is",
    ],
    "on the disk before it takes the name": [
        f"{DISK}::test_what_takes_the_name_is_on_the_disk_before_and_the_folder_after"
    ],
    "two generations": [f"{BOX}::test_two_generations_are_kept_and_no_more"],
    "k, the whole state and the bounds": [
        "io/checkpoint/test_known_classes.py::test_a_method_goes_on_from_a_checkpoint_bit_for_bit",
        f"{RESUME}::test_a_resumed_solve_is_that_of_one_that_was_left_alone",
    ],
    "the storage, with the random matrix of a sketch": [
        "io/checkpoint/test_known_classes.py::test_a_storage_goes_on_from_a_checkpoint_bit_for_bit",
        "io/checkpoint/test_packing.py::test_a_sketch_keeps_its_random_matrix_only_if_it_has_one",
    ],
    "options": ["cli/test_cli_resume.py::test_every_application_is_resumed_with_its_own_options"],
    "a hash of the problem": [
        "io/checkpoint/test_fingerprint.py::test_one_number_in_its_last_bit_makes_another_fingerprint"
    ],
    "versions": [
        f"{ABOUT}::test_it_says_what_it_is_of",
        f"{ABOUT}::test_other_versions_are_taken_with_a_note",
    ],
}

LINES: dict[str, dict[str, list[str]]] = {
    "input": INPUT,
    "structure": STRUCTURE,
    "numerics": NUMERICS,
    "control": CONTROLLED,
    "files": IN_FILES,
    "checkpoints": IN_CHECKPOINTS,
}
