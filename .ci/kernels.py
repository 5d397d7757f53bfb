"""Compiles every kernel with NVRTC, as ranksweep does where it finds a GPU, for chips that need not be there.

    python .ci/kernels.py [ROOT]

NVRTC is the package nvidia-cuda-nvrtc of requirements-checks.txt. A warning is an error here. Prints what each kernel takes of a chip: the
program has the driver assemble the kernels, here the assembler comes along.
"""

import ctypes
import importlib.util
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHIPS = (80, 90, 100)
"""Compute capabilities: A100, H100 and H200, B200."""


class Nvrtc:
    """The compiler, without its documentation's ceremony: each call gives 0, or a number that has a name."""

    def __init__(self):
        package = importlib.util.find_spec("nvidia.cu13")
        if package is None:
            sys.exit("nvidia-cuda-nvrtc is not installed: python -m pip install --requirement requirements-checks.txt")
        folder = Path(next(iter(package.submodule_search_locations))) / "lib"
        # The compiler opens the first by name, and finds it once it is loaded.
        for name in ("libnvrtc-builtins.so.*", "libnvrtc.so.*"):
            self.library = ctypes.CDLL(str(next(folder.glob(name))), mode=ctypes.RTLD_GLOBAL)
        self.library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        return None if code == 0 else self.library.nvrtcGetErrorString(code).decode()

    def compile(self, name, source, options):
        """The error, if any, and what the compiler says."""
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        self.call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
        given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        error = self.call("nvrtcCompileProgram", program, len(options), given)
        self.call("nvrtcGetProgramLogSize", program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        self.call("nvrtcGetProgramLog", program, log)
        self.call("nvrtcDestroyProgram", ctypes.byref(program))
        return error, log.value.decode(errors="replace")


def usage(log):
    """Kernels of the assembler's log with their registers, shared memory and spills."""
    pattern = r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers(.*?)$"
    for name, spilled, registers, rest in re.findall(pattern, log, re.DOTALL | re.MULTILINE):
        shared = re.search(r"(\d+) bytes smem", rest)
        yield name, int(registers), int(shared[1]) if shared else 0, int(spilled)


def check(nvrtc, file, common, options):
    """Whether a file compiles for every chip, without a warning."""
    for chip in CHIPS:
        given = [*options, f"--gpu-architecture=sm_{chip}", "--ptxas-options=--verbose"]
        error, log = nvrtc.compile(file.name, common + file.read_text(), given)
        kernels = list(usage(log))
        if error or "warning" in log or not kernels:
            print(f"{file.name} for sm_{chip}: {error or 'a warning, or no kernel in it'}\n{log}")
            return False
        for name, registers, shared, spilled in kernels:
            print(f"{file.name}  sm_{chip}  {name}: {registers} registers, {shared} bytes shared, {spilled} bytes spilled")
    return True


def sources(gpu):
    """The files of kernels, each with the text before its own: as gpu/build.rs has it, the `.cuh` files of the first folder, and those beside the file."""
    [listed] = re.findall(r"const FOLDERS: .*? = \[(.*?)\];", (gpu / "build.rs").read_text())
    folders = [gpu / folder for folder in re.findall(r'"(.*?)"', listed)]
    for folder in folders:
        headers = [header for place in dict.fromkeys([folders[0], folder]) for header in sorted(place.glob("*.cuh"))]
        files = sorted(folder.glob("*.cu"))
        if not files:
            sys.exit(f"no kernel in {folder}: expected files *.cu")
        for file in files:
            yield file, "\n".join(header.read_text() for header in headers) + "\n"


def main():
    gpu = (Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT) / "gpu"
    options = re.findall(r'"(--[^"{]+)"', (gpu / "src/cuda.rs").read_text())
    if not options:
        sys.exit("gpu/src/cuda.rs names no option of the compiler: kernels would be compiled here as they are nowhere else")
    nvrtc = Nvrtc()
    sys.exit(not all([check(nvrtc, file, before, options) for file, before in sources(gpu)]))


if __name__ == "__main__":
    main()
