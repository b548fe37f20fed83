"""The files whose tests are `fast`: laws and units, a few milliseconds each, without any extra.

`make check` runs them, and `pytest -m fast` imports no others; the group `test` of pyproject.toml
is all they need. A file may move to any folder; a test checks that each exists.
"""

FAST = {
    # The template: maps, functions, sets, domains, problems.
    "test_adjoint_rounding",
    "test_checking",
    "test_composite",
    "test_diffraction",
    "test_domains",
    "test_dual_error",
    "test_lagrangian",
    "test_maps",
    "test_maps_of_vectors",
    "test_nonsmooth",
    "test_scaling",
    "test_sets",
    "test_smooth",
    "test_vector_domains",
    # Linear algebra.
    "test_eigen",
    "test_lifting",
    "test_operators",
    "test_points",
    # Methods, certificates, the driver.
    "test_anderson",
    "test_faults",
    "test_fit",
    "test_input_options",
    "test_operator_faults",
    "test_relaxation",
    "test_statuses",
    "test_tangent",
    "test_tree_dual",
    # Problems and files.
    "test_about",
    "test_container",
    "test_folded",
    "test_loading",
    "test_matrix_market",
    "test_metis",
    "test_read_graph",
    "test_saving",
    "test_table",
    "test_text",
    # The rest of the repository.
    "test_claims",
    "test_curve",
    "test_project",
    "test_size",
}
