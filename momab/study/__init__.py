"""The paper's computational study, and ours beside it."""

from momab.study.compare import (
    beside,
    compare_with_paper,
    paper_table,
)
from momab.study.design import (
    DATASETS,
    HORIZON,
    POLICIES,
    RUNS,
    VALIDATION_RUNS,
    VALIDATION_SEED,
    Options,
    paper_coefficient,
    paper_policies,
    real_instances,
    tunable_policies,
)
from momab.study.limit import (
    CONTENDERS,
    GROUPS,
    contenders,
    extended_table,
    run_limit,
)
from momab.study.parts import (
    OPTION_NAMES,
    PARTS,
    Parts,
    require_data,
    require_taken,
    run_paths,
    run_retuned,
    run_risk,
    run_rivals,
    run_synthetic,
    run_tails,
    wanted_parts,
)
from momab.study.recorded import (
    RESULTS,
    absent_data,
    differences,
    record_results,
    recorded_policies,
    recorded_provenance,
    recorded_results,
    require_recorded_sizes,
)
from momab.study.tables import (
    choose_coefficients,
    plus_minus,
    redraw,
    table1,
    table2,
    table3,
    table4,
)
from momab.study.write import (
    comparisons,
    write_files,
)
