"""Which reasons for a skip scripts/test takes, and that it knows every reason that a test of this tree may give."""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("script", str(ROOT / "scripts/test"))
script = importlib.util.module_from_spec(importlib.util.spec_from_loader("script", loader))
loader.exec_module(script)


root = tempfile.TemporaryDirectory()


def build_with(torch):
    folder = pathlib.Path(root.name) / torch
    folder.mkdir()
    (folder / "CMakeCache.txt").write_text(f"STEIN_TORCH:BOOL={torch}\n")
    return folder


on, off = build_with("ON"), build_with("OFF")
assert script.is_explained("built without LibTorch", off)
assert not script.is_explained("built without LibTorch", on)
assert not script.is_explained("built without LibTorch or anything", off)
assert not script.is_explained("it was raining", off)
assert not script.is_explained("", off)

# No CUDA is explained where the build was told so, or where no nvcc is to be found; not where one is and was passed over.
find = script.shutil.which
for nvcc in (None, "/usr/local/cuda/bin/nvcc"):
    script.shutil.which = lambda name: nvcc if name == "nvcc" else find(name)
    for cache, explained in (("STEIN_WITH_CUDA:INTERNAL=ON\n", False), ("STEIN_WITH_CUDA:INTERNAL=ON\nSTEIN_CUDA:BOOL=OFF\n", False),
                             ("STEIN_CUDA:BOOL=OFF\n", True), ("STEIN_CUDA:BOOL=ON\n", nvcc is None), ("", nvcc is None)):
        (on / "CMakeCache.txt").write_text(cache)
        assert script.is_explained("built without CUDA", on) == explained, (nvcc, cache)
script.shutil.which = find

assert script.is_explained("built without NCCL", on)
(on / "CMakeCache.txt").write_text("STEIN_WITH_NCCL:INTERNAL=ON\n")
assert not script.is_explained("built without NCCL", on)

assert script.is_explained("built without MPI", on)
(on / "CMakeCache.txt").write_text("STEIN_WITH_MPI:INTERNAL=ON\n")
assert not script.is_explained("built without MPI", on)

data = pathlib.Path(root.name)
os.environ["STEIN_DATA"] = os.environ["XDG_CACHE_HOME"] = str(data)
assert script.is_explained("no data set mushroom", on)
(data / "mushroom").mkdir()
assert not script.is_explained("no data set mushroom", on)
assert script.is_explained("no data set covertype", on)

reasons = []
for file in (ROOT / "tests").rglob("*"):
    if file.suffix in (".h", ".cpp"):
        reasons += re.findall(r'\bskip\((?:std::string\()?"(.*?)"', file.read_text())
assert len(reasons) > 5, reasons
for reason in reasons:
    assert any(re.match(pattern, reason + end) for pattern in script.EXPLANATIONS for end in ("", "x", "x on a machine of x")), reason
