"""QUDA's interface for MILC as a whole: every function that MILC calls has its types, is there when it is linked, and does what MILC
expects or ends the job with a line. And a program that makes the calls of a trajectory.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
HEADERS = ROOT / "solver" / "interface" / "milc"

# Result, name and types of arguments, as MILC's calls and QUDA's interface have them. Behind #: the options of MILC's makefile that
# call what is not offered; "-": none.
FUNCTIONS = """
void qudaSetMPICommHandle(void *)
void qudaInit(QudaInitArgs_t)
void qudaFinalize(void)
void *qudaAllocatePinned(size_t)
void qudaFreePinned(void *)
void *qudaAllocateManaged(size_t)
void qudaFreeManaged(void *)
void qudaDslash(int, int, QudaInvertArgs_t, const void *, const void *, void *, void *, int *)
void qudaInvert(int, int, double, QudaInvertArgs_t, double, double, const void *, const void *, void *, void *, double *, double *, int *)
void qudaInvertMsrc(int, int, double, QudaInvertArgs_t, double, double, const void *, const void *, void **, void **, double *, double *, int *, int)
void qudaMultishiftInvert(int, int, int, double *, QudaInvertArgs_t, const double *, const double *, const void *, const void *, void *, void **, double *, double *, int *)
void qudaPlaquettePhased(int, double *, QudaMILCSiteArg_t *, int)
void qudaPolyakovLoopPhased(int, double *, int, QudaMILCSiteArg_t *, int)
void qudaGaugeLoopTracePhased(int, double *, int **, int *, double *, int, int, double, QudaMILCSiteArg_t *, int)
void qudaGaugeMeasurementsPhased(int, double *, double *, int, double *, int **, int *, double *, int, int, double, QudaMILCSiteArg_t *, int)
double qudaMomAction(int, QudaMILCSiteArg_t *)
void qudaUnitarizeSU3(int, double, QudaMILCSiteArg_t *)
void qudaUnitarizeSU3Phased(int, double, QudaMILCSiteArg_t *, int)
QudaGaugeParam newQudaGaugeParam(void)
QudaInvertParam newQudaInvertParam(void)
QudaEigParam newQudaEigParam(void)
void loadGaugeQuda(void *, QudaGaugeParam *)
void eigensolveQuda(void **, double _Complex *, QudaEigParam *)
void qudaHisqParamsInit(QudaHisqParams_t)
void qudaLoadKSLink(int, QudaFatLinkArgs_t, const double *, void *, void *, void *)
void qudaLoadUnitarizedLink(int, QudaFatLinkArgs_t, const double *, void *, void *, void *)
void qudaShift(int, int, const void *, void *, void *, int, int, int)
void qudaSpinTaste(int, int, const void *, void *, void *, int, int, int)
void qudaContractFT(int, QudaContractArgs_t *, void *, void *, double *)
void qudaTwoLinkGaussianSmear(int, int, void *, void *, QudaTwoLinkQuarkSmearArgs_t)
void qudaFreeTwoLink(void)
void qudaGaugeFixingOVR(int, unsigned, int, int, double, double, unsigned, unsigned, QudaMILCSiteArg_t *)
void qudaGaugeFixingFFT(int, unsigned, int, int, double, unsigned, double, unsigned, void *)  # -
void *qudaMultigridCreate(int, int, double, QudaInvertArgs_t, const void *, const void *, const char *)
void qudaInvertMG(int, int, double, QudaInvertArgs_t, double, double, const void *, const void *, void *, int, void *, void *, double *, double *, int *)
void qudaInvertMsrcMG(int, int, double, QudaInvertArgs_t, double, double, const void *, const void *, void *, int, void **, void **, double *, double *, int *, int)
void qudaMultigridDestroy(void *)
void qudaGaugeForce(int, int, double *, double, QudaMILCSiteArg_t *)  # WANT_GF_GPU=
void qudaGaugeForcePhased(int, int, double *, double, QudaMILCSiteArg_t *, int)  # WANT_GF_GPU=
void qudaUpdateU(int, double, QudaMILCSiteArg_t *)  # WANT_GF_GPU=
void qudaUpdateUPhased(int, double, QudaMILCSiteArg_t *, int)  # WANT_GF_GPU=
void qudaUpdateUPhasedPipeline(int, double, QudaMILCSiteArg_t *, int, int)  # WANT_GF_GPU=
void qudaMomLoad(int, QudaMILCSiteArg_t *)  # WANT_GF_GPU=
void qudaMomSave(int, QudaMILCSiteArg_t *)  # WANT_GF_GPU=
void qudaRephase(int, void *, int, double)  # WANT_GF_GPU=
void qudaHisqForce(int, int, int, double, double **, void **, const double *, const double *, const void *, const void *, const void *, void *)  # WANT_FF_GPU=
void qudaAsqtadForce(int, const double *, const void *const *, const void *const *, const void *, void *)  # WANT_FF_GPU=
void qudaComputeOprod(int, int, int, double **, double, void **, void **)  # WANT_FF_GPU=
void qudaCloverInvert(int, int, double, double, QudaInvertArgs_t, double, double, const void *, void *, void *, void *, void *, double *, double *, int *)  # WANT_CL_BCG_GPU=
void qudaEigCGCloverInvert(int, int, double, double, QudaInvertArgs_t, double, double, const void *, void *, void *, void *, void *, QudaEigArgs_t, int, int, double *, double *, int *)  # WANT_CL_BCG_GPU=
void qudaCloverMultishiftInvert(int, int, int, double *, double, double, QudaInvertArgs_t, const double *, void *, void **, double *, int *)  # WANT_CL_BCG_GPU=
void qudaLoadGaugeField(int, int, QudaInvertArgs_t, const void *)  # WANT_CL_BCG_GPU=
void qudaFreeGaugeField(void)  # WANT_CL_BCG_GPU=
void qudaLoadCloverField(int, int, QudaInvertArgs_t, void *, void *, QudaSolutionType, QudaSolveType, double, int, double *)  # WANT_CL_BCG_GPU=
void qudaFreeCloverField(void)  # WANT_CL_BCG_GPU=
void qudaCloverForce(void *, double, void **, void **, double *, double, double, int, double, void *, int, QudaInvertArgs_t)  # WANT_CL_BCG_GPU=
void qudaCloverTrace(void *, void *, int, int)  # WANT_CL_BCG_GPU=
void qudaCloverDerivative(void *, void *, void *, int, int, double, int, int, int)  # WANT_CL_BCG_GPU=
void *qudaCreateExtendedGaugeField(void *, int, int)  # WANT_CL_BCG_GPU=
void *qudaResidentExtendedGaugeField(void *, int, int)  # WANT_CL_BCG_GPU=
void *qudaCreateGaugeField(void *, int, int)  # WANT_CL_BCG_GPU=
void qudaSaveGaugeField(void *, void *)  # WANT_CL_BCG_GPU=
void qudaDestroyGaugeField(void *)  # WANT_CL_BCG_GPU=
void qudaSetLayout(QudaLayout_t)  # -
void qudaDDInvert(int, int, double, QudaInvertArgs_t, double, double, const int *, const void *, const void *, void *, void *, double *, double *, int *)  # -
void qudaEigCGInvert(int, int, double, QudaInvertArgs_t, double, double, const void *, const void *, void *, void *, QudaEigArgs_t, int, int, double *, double *, int *)  # -
"""
ROWS = [re.fullmatch(r"(.*?)(\w+)\((.*?)\)(?:  # (.*))?", row).groups() for row in FUNCTIONS.strip().splitlines()]
NOT_OFFERED = {name: options for _, name, _, options in ROWS if options}

# The fields that MILC sets for QUDA's eigensolver, with the values that it gives them: numbers, enumerators, texts.
FIELDS = {
    "QudaGaugeParam": {
        "X[0]": ["4"], "anisotropy": ["1.0"], "cpu_prec": ["QUDA_SINGLE_PRECISION", "QUDA_DOUBLE_PRECISION"], "cuda_prec": ["a.cpu_prec"],
        "cuda_prec_eigensolver": ["a.cpu_prec"], "cuda_prec_precondition": ["a.cpu_prec"], "cuda_prec_refinement_sloppy": ["a.cpu_prec"],
        "cuda_prec_sloppy": ["a.cpu_prec"], "ga_pad": ["0"], "gauge_fix": ["QUDA_GAUGE_FIXED_NO"], "gauge_order": ["QUDA_MILC_GAUGE_ORDER"],
        "mom_ga_pad": ["0"], "reconstruct": ["QUDA_RECONSTRUCT_NO"], "reconstruct_eigensolver": ["QUDA_RECONSTRUCT_NO"],
        "reconstruct_precondition": ["QUDA_RECONSTRUCT_NO"], "reconstruct_refinement_sloppy": ["QUDA_RECONSTRUCT_NO"],
        "reconstruct_sloppy": ["QUDA_RECONSTRUCT_NO"], "scale": ["-1.0 / 24"],
        "staggered_phase_type": ["QUDA_STAGGERED_PHASE_NO", "QUDA_STAGGERED_PHASE_MILC"], "t_boundary": ["QUDA_PERIODIC_T"],
        "tadpole_coeff": ["0.87"], "type": ["QUDA_SU3_LINKS", "QUDA_ASQTAD_FAT_LINKS", "QUDA_ASQTAD_LONG_LINKS"]},
    "QudaInvertParam": {
        "Ls": ["1"], "Nsteps": ["2"], "ca_basis": ["QUDA_POWER_BASIS"], "ca_lambda_max": ["-1.0"], "ca_lambda_min": ["0.0"],
        "cpu_prec": ["QUDA_SINGLE_PRECISION", "QUDA_DOUBLE_PRECISION"], "cuda_prec": ["a.cpu_prec"],
        "cuda_prec_eigensolver": ["QUDA_INVALID_PRECISION"], "cuda_prec_precondition": ["QUDA_INVALID_PRECISION"],
        "cuda_prec_refinement_sloppy": ["a.cuda_prec"], "cuda_prec_sloppy": ["a.cuda_prec"], "dagger": ["QUDA_DAG_NO"],
        "dirac_order": ["QUDA_DIRAC_ORDER"], "dslash_type": ["QUDA_STAGGERED_DSLASH", "QUDA_LAPLACE_DSLASH", "QUDA_ASQTAD_DSLASH"],
        "gamma_basis": ["QUDA_DEGRAND_ROSSI_GAMMA_BASIS"], "gcrNkrylov": ["10"], "heavy_quark_check": ["0"],
        "input_location": ["QUDA_CPU_FIELD_LOCATION"], "inv_type": ["QUDA_CG_INVERTER"], "inv_type_precondition": ["QUDA_INVALID_INVERTER"],
        "kappa": ["0.125"], "laplace3D": ["4"], "mass": ["0.0"], "mass_normalization": ["QUDA_MASS_NORMALIZATION"],
        "matpc_type": ["QUDA_MATPC_EVEN_EVEN", "QUDA_MATPC_ODD_ODD"], "maxiter": ["1000"], "maxiter_precondition": ["10"],
        "native_blas_lapack": ["QUDA_BOOLEAN_TRUE"], "output_location": ["QUDA_CPU_FIELD_LOCATION"], "pipeline": ["0"],
        "preserve_source": ["QUDA_PRESERVE_SOURCE_YES"], "reliable_delta": ["0.1"], "residual_type": ["QUDA_L2_RELATIVE_RESIDUAL"],
        "solution_accumulator_pipeline": ["0"], "solution_type": ["QUDA_MAT_SOLUTION", "QUDA_MATPC_SOLUTION"],
        "solve_type": ["QUDA_DIRECT_SOLVE", "QUDA_NORMOP_PC_SOLVE"], "sp_pad": ["0"], "tol": ["1e-7"], "tol_hq": ["0.0"],
        "tol_precondition": ["0.1"], "tol_restart": ["5e-4"], "use_alternative_reliable": ["QUDA_BOOLEAN_FALSE"],
        "use_sloppy_partial_accumulator": ["QUDA_BOOLEAN_FALSE"], "verbosity": ["QUDA_SILENT", "QUDA_SUMMARIZE", "QUDA_VERBOSE", "QUDA_DEBUG_VERBOSE"],
        "verbosity_precondition": ["QUDA_SILENT"]},
    "QudaEigParam": {
        "a_max": ["24.0"], "a_min": ["1.0"], "arpack_check": ["QUDA_BOOLEAN_FALSE"], "arpack_logfile": ["text"], "batched_rotate": ["0"],
        "block_size": ["1"], "check_interval": ["1"], "compute_gamma5": ["QUDA_BOOLEAN_FALSE"], "compute_svd": ["QUDA_BOOLEAN_FALSE"],
        "eig_type": ["QUDA_EIG_TR_LANCZOS", "QUDA_EIG_BLK_TR_LANCZOS"], "invert_param": ["NULL"], "io_parity_inflate": ["QUDA_BOOLEAN_FALSE"],
        "max_restarts": ["100"], "n_conv": ["8"], "n_ev": ["8"], "n_ev_deflate": ["8"], "n_kr": ["32"], "poly_deg": ["20"], "qr_tol": ["1e-9"],
        "require_convergence": ["QUDA_BOOLEAN_TRUE"], "save_prec": ["QUDA_SINGLE_PRECISION", "QUDA_DOUBLE_PRECISION"],
        "spectrum": ["QUDA_SPECTRUM_SR_EIG"], "tol": ["1e-9"], "use_dagger": ["QUDA_BOOLEAN_FALSE"], "use_eigen_qr": ["QUDA_BOOLEAN_TRUE"],
        "use_norm_op": ["QUDA_BOOLEAN_TRUE", "QUDA_BOOLEAN_FALSE"], "use_pc": ["QUDA_BOOLEAN_TRUE"], "use_poly_acc": ["QUDA_BOOLEAN_TRUE"],
        "vec_infile": ["text"], "vec_outfile": ["text"]}}


def assignments(struct: str) -> str:
    lines = "".join(f'  strcpy(a.{field}, "");\n' if value == "text" else f"  a.{field} = {value};\n"
                    for field, values in FIELDS[struct].items() for value in values)
    return f"{struct} of_{struct}(void) {{\n  {struct} a = new{struct}();\n{lines}  return a;\n}}\n"


# Like what MILC has in sources of its own: a function with an array of sites, and the types of its contractions.
OF_MILC = """
struct own_site { int place[4]; float mom[4][10]; char parity; float link[4][18]; };
extern struct own_site *sites;
QudaMILCSiteArg_t of_sites(void) {
  const QudaMILCSiteArg_t arg = {.size = sizeof *sites, .site = sites, .link_offset = offsetof(struct own_site, link),
                                 .mom_offset = offsetof(struct own_site, mom), .link = NULL, .mom = NULL};
  return arg;
}
#include <limits.h>
#define QUDA_INVALID_ENUM INT_MIN
typedef enum { QUDA_FFT_SYMM_ODD = 1, QUDA_FFT_SYMM_EVEN, QUDA_FFT_SYMM_EO, QUDA_FFT_SYMM_INVALID = QUDA_INVALID_ENUM } QudaFFTSymmType;
typedef struct {
  int n_mom, *mom_modes;
  QudaFFTSymmType *fft_type;
  int *source_position;
  double flops, dtime;
} QudaContractArgs_t;
void qudaContractFT(int, QudaContractArgs_t *, void *const, void *const, double *);
"""


def compiles(compiler: str, folder: Path, text: str, *options: str) -> None:
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"no {compiler.split()[0]} on this machine")
    source = folder / "host.c"
    source.write_text(text)
    result = subprocess.run([*compiler.split(), "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-fsyntax-only", *options, f"-I{HEADERS}", source],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


COMPILERS = ["gcc -std=c99", "g++ -x c++ -std=c++98", "g++ -x c++ -std=c++20"]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_prototype_has_the_types_of_the_list(compiler, tmp_path):
    pointers = "".join(f"{result}(*p_{name})({types}) = {name};\n" for result, name, types, _ in ROWS)
    compiles(compiler, tmp_path, "#define STAGHORN_QUDA_CONTRACTIONS\n#include <quda_milc_interface.h>\n" + pointers)
    headers = "".join(path.read_text() for path in HEADERS.glob("quda*.h"))
    declared = set(re.findall(r"^STAGHORN_MILC_API [^;(]*?(\w+)\(", headers, re.MULTILINE))
    assert declared == {name for _, name, _, _ in ROWS}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("order", [["quda.h"], ["quda_milc_interface.h"], ["quda.h", "quda_milc_interface.h"], ["quda_milc_interface.h", "quda.h"]])
def test_headers_compile_alone_and_in_any_order(compiler, order, tmp_path):
    for option in ("-UNOTHING", "-DSTAGHORN_QUDA_CONTRACTIONS"):
        compiles(compiler, tmp_path, "".join(f"#include <{header}>\n" for header in order), "-pedantic", option)


def test_sources_of_milc_compile(tmp_path):
    compiles("gcc -std=c99", tmp_path, "#include <quda_milc_interface.h>\n" + OF_MILC)
    compiles("gcc -std=gnu99", tmp_path, "#include <string.h>\n#include <quda_milc_interface.h>\n" + "".join(map(assignments, FIELDS)))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_structs_lie_as_milc_counts_on(compiler, tmp_path):
    offsets = {"QudaInvertArgs_t": {"max_iter": 0, "evenodd": 4, "mixed_precision": 8, "boundary_phase": 16, "make_resident_solution": 48,
                                    "solver_type": 56, "tadpole": 64, "naik_epsilon": 72},
               "QudaMILCSiteArg_t": {"site": 0, "link": 8, "link_offset": 16, "mom": 24, "mom_offset": 32, "size": 40}}
    compiles(compiler, tmp_path, "#include <quda.h>\n#include <quda_milc_interface.h>\nchar size[sizeof(QudaInvertArgs_t) == 80 ? 1 : -1];\n" + "".join(
        f"char {struct}_{name}[offsetof({struct}, {name}) == {offset} ? 1 : -1];\n" for struct, of in offsets.items() for name, offset in of.items()))


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm on this machine")
def test_library_exports_the_functions_of_the_list_and_nothing_else(program):
    library = program.parent / "libstaghorn_milc.so"
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    assert {line.split()[-1].split("@")[0] for line in lines.splitlines() if " A " not in line} == {name for _, name, _, _ in ROWS}
    dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    assert "[libstaghorn_milc.so.0]" in dynamic and "[libstaghorn.so.0]" in dynamic


CALL_EACH = """
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1])
for name in sys.argv[2:]:
    child = os.fork()
    if child == 0:
        getattr(library, name)()
        os._exit(0)
    print(name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def test_what_is_not_offered_ends_with_a_line_that_names_the_option(program):
    result = subprocess.run([sys.executable, "-c", CALL_EACH, program.parent / "libstaghorn_milc.so", *NOT_OFFERED], capture_output=True, text=True)
    assert result.stdout == "".join(f"{name} 1\n" for name in NOT_OFFERED), result.stdout + result.stderr
    cures = {name: f": build MILC with {options} (nothing behind =)" if options != "-" else "" for name, options in NOT_OFFERED.items()}
    assert result.stderr == "".join(f"staghorn: {name}: not offered by Staghorn{cure}\n" for name, cure in cures.items())


def test_the_page_names_the_options_that_stay_empty():
    page = (ROOT / "docs" / "interfaces" / "milc.md").read_text()
    assert not [option for options in NOT_OFFERED.values() for option in options.split() if option != "-" and f"`{option}`" not in page]


CALLS = 2 * (2 * ["qudaPlaquettePhased", "qudaPolyakovLoopPhased", "qudaGaugeLoopTracePhased", "qudaGaugeMeasurementsPhased", "qudaPlaquettePhased"]
             + ["qudaMomAction", "qudaUnitarizeSU3", "qudaUnitarizeSU3Phased", "qudaInvert", "qudaMultishiftInvert"])


@pytest.fixture(scope="module")
def of_one_process(run_built):
    return answers(run_built("milc_program", threads=2))


def answers(result) -> list[str]:
    """What the library returned to milc_program, which has checked it, after all of its calls."""
    assert result.returncode == 0 and result.stdout.endswith("ok\n"), result.stdout + result.stderr
    assert re.findall(r"^staghorn: (\w+): ", result.stdout, re.MULTILINE) == CALLS
    return [line for line in result.stdout.splitlines() if not line.startswith("staghorn: ")]


def test_a_trajectory_gets_what_milc_computes(of_one_process):
    assert len(of_one_process) == 2 * (2 * 3 + 2) + 1


@pytest.mark.mpi
@pytest.mark.parametrize("grid", ["1 1 1 2", "2 1 1 1", "1 2 1 2"])
def test_a_trajectory_on_ranks_gets_the_same_bits(run_built, of_one_process, grid):
    ranks = 4 if grid == "1 2 1 2" else 2
    assert answers(run_built("milc_program", *grid.split(), ranks=ranks, threads=1)) == of_one_process


@pytest.fixture(scope="module", params=["hisq", "asqtad"])
def improved(request, staghorn, run_built, tmp_path_factory):
    """(action, raw thin links, the file of milc_links in one process): with phases counted from another origin too, and in fp32."""
    folder = tmp_path_factory.mktemp("links")
    staghorn("generate", "--lattice", 4, 4, 6, 8, "--beta", 6, "--sweeps", 10, "--seed", 5, "--device", "cpu", "--output", folder / "thin.h5", check=True)
    with h5py.File(folder / "thin.h5") as file:
        file["links"][...].astype(np.complex128).tofile(folder / "thin")
    result = run_built("milc_links", request.param, folder / "thin", folder / "made", threads=1)
    assert result.returncode == 0 and result.stdout == "ok\n", result.stdout + result.stderr
    return request.param, folder / "thin", folder / "made"


def test_fat_and_long_links_have_the_bits_of_the_program(staghorn, improved, tmp_path):
    action, thin, made = improved
    staghorn("smear", "--gauge", thin.with_suffix(".h5"), "--action", action, "--fat", tmp_path / "fat.h5", "--long", tmp_path / "long.h5",
             "--device", "cpu", check=True)
    fat, naik = np.fromfile(made).view(np.complex128).reshape(2, 8, 6, 4, 4, 4, 3, 3)
    assert np.array_equal(fat, h5py.File(tmp_path / "fat.h5")["links"][...]), "fat"
    assert np.array_equal(naik, h5py.File(tmp_path / "long.h5")["links"][...]), "long"


@pytest.mark.mpi
@pytest.mark.parametrize("grid", ["1 1 1 2", "2 1 1 1"])
def test_fat_and_long_links_on_ranks_have_the_same_bits(run_built, improved, grid):
    result = run_built("milc_links", *improved, *grid.split(), ranks=2, threads=1)
    assert result.returncode == 0 and result.stdout == "ok\n", result.stdout + result.stderr


@pytest.mark.parametrize("what, text", {
    "early": r"qudaPlaquettePhased: lattice: expected qudaInit before, found none",
    "link": r"qudaUnitarizeSU3Phased: links: expected matrices that have one of SU\(3\) near them, found a link in direction z at \(3, 2, 5, 7\)",
    "phases": r"qudaUnitarizeSU3: links: expected matrices that have one of SU\(3\) near them, found a link in direction . at \(.*\)",
    "nan": r"qudaPlaquettePhased: links: expected finite numbers, found others",
    "size": r"qudaPlaquettePhased: arg\.size: expected at least offset \+ 576, found 800",
    "direction": r"qudaPolyakovLoopPhased: direction: expected 0 to 3, found 4",
    "open": r"qudaGaugeLoopTracePhased: path: expected one that ends where it begins, found 1 steps in direction t",
    "null": r"qudaMomAction: arg: expected a pointer, found NULL"}.items(), ids=lambda value: value if value.isalpha() else "")
def test_an_error_is_one_line_and_the_end(run_built, what, text):
    result = run_built("milc_program", "fails", what, threads=1)
    assert result.returncode == 1 and result.stdout == "", result.stdout + result.stderr
    assert re.fullmatch(f"staghorn: {text}\n", result.stderr), result.stderr


@pytest.mark.mpi
def test_a_link_of_one_rank_is_named_once(run_built):
    result = run_built("milc_program", "fails", "link", 1, 1, 1, 2, ranks=2, threads=1)
    assert result.returncode not in (0, 2) and "went through" not in result.stdout
    (line,) = re.findall(r"^staghorn: .*", result.stderr, re.MULTILINE)
    assert line.endswith("found a link in direction z at (3, 2, 5, 7)"), line
