# A recipe for Spack. In a repository of your own: packages/staghorn/package.py.
from spack.package import *


class Staghorn(CMakePackage, CudaPackage):
    """Staggered Dirac equation of lattice QCD by Conjugate Gradient: checked answers, the same bits on any machine."""

    license("BSD-3-Clause")

    # No archive is named here: `spack dev-build staghorn@0.2.0` in the folder of the sources builds these.
    version("0.2.0")

    variant("mpi", default=True, description="Run on several ranks")
    variant("shared", default=False, description="Build libstaghorn_core as a shared library")
    variant("python", default=False, description="Build the Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("mpi", when="+mpi")
    depends_on("boost+program_options")
    depends_on("hdf5@1.10.5:")
    depends_on("nlohmann-json", type="build")
    depends_on("zlib-api")
    depends_on("cuda@12.4:", when="+cuda")
    with when("+python"):
        extends("python@3.10:")
        depends_on("py-nanobind@2:", type="build")
        depends_on("py-numpy", type=("build", "run"))

    conflicts("%gcc@:11", msg="Staghorn needs gcc 12 or newer")
    conflicts("cuda_arch=none", when="+cuda", msg="say for which GPUs: cuda_arch=80,90")

    generator("ninja")

    def cmake_args(self):
        arguments = [
            self.define_from_variant("STAGHORN_MPI", "mpi"),
            self.define_from_variant("STAGHORN_CUDA", "cuda"),
            self.define_from_variant("STAGHORN_PYTHON", "python"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("STAGHORN_TESTS", self.run_tests),
            self.define("STAGHORN_INSTRUCTION_SETS", "all"),
        ]
        if self.spec.satisfies("+cuda"):
            arguments.append(self.define("STAGHORN_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return arguments

    @run_after("install")
    def install_python(self):
        """The package is no part of `cmake --install`: the component of the wheel, beside its sources."""
        if self.spec.satisfies("+python"):
            install_tree("python/staghorn", join_path(python_platlib, "staghorn"))
            cmake = which("cmake")
            cmake("--install", self.build_directory, "--component", "python", "--prefix", python_platlib)
