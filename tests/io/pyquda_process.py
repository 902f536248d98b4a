"""PyQUDA's readers and writers of files, in a process of their own: JSON jobs on standard input, a line of JSON for each.

A job is {"do": "read"|"write", "format": ..., "file": ...}. Links are (4, T, Z, Y, X, 3, 3), in `file`.links.npy.

pyquda_io is pure Python, but for what it takes from pyquda_comm, which is built with QUDA: who the ranks are, and how arrays
lie in files. Here that is one process and NumPy. The orders of sites, links and colours, headers, checksums and plaquettes
are PyQUDA's own.
"""

from __future__ import annotations

import json
import sys
import types
from contextlib import contextmanager

import numpy as np


class OneProcess:
    def allreduce(self, value, operation):
        return value


@contextmanager
def open_header(filename, mode):
    header = types.SimpleNamespace(fp=open(filename, mode), offset=0)
    try:
        yield header
    finally:
        header.offset = header.fp.tell()
        header.fp.close()


def read_array(filename, dtype, offset, shape, axes):
    return np.fromfile(filename, dtype, int(np.prod(shape)), offset=offset).reshape(shape)


def write_array(filename, dtype, offset, shape, axes, numbers):
    assert numbers.shape == tuple(shape) and numbers.dtype == np.dtype(dtype)
    with open(filename, "r+b" if offset else "wb") as file:
        file.seek(offset)
        numbers.tofile(file)


def single_process_pyquda_comm() -> types.ModuleType:
    module = types.ModuleType("pyquda_comm")
    module.getMPIComm, module.getMPIRank, module.getMPISize = OneProcess, lambda: 0, lambda: 1
    module.getGridSize, module.getGridCoord, module.getNeighbourRank = lambda: [1] * 4, lambda: [0] * 4, lambda: [0] * 8
    module.getSublatticeSize = lambda latt_size, force_even=True: list(latt_size)
    module.openReadHeader, module.openWriteHeader = (lambda name: open_header(name, "rb")), (lambda name: open_header(name, "wb"))
    module.readMPIFile, module.writeMPIFile = read_array, write_array
    module.initGrid = module.initDevice = lambda *ignored: None
    return module


def main():
    sys.modules["pyquda_comm"] = single_process_pyquda_comm()
    from pyquda_io import ildg, kyu, milc, nersc, npy, openqcd

    exact = {"reunitarize_sigma": 0}  # the numbers as they are, but for the third rows of fp32
    readers = {"milc": lambda name, _: milc.readGauge(name, **exact)[1], "nersc": lambda name, _: nersc.readGauge(name, **exact)[1],
               "ildg": lambda name, _: ildg.readGauge(name, **exact)[1], "npy": lambda name, _: npy.readGauge(name)[1],
               "openqcd": lambda name, _: openqcd.readGauge(name)[1], "kyu": kyu.readGauge}
    writers = {"milc": milc.writeGauge, "nersc": nersc.writeGauge, "npy": npy.writeGauge, "openqcd": openqcd.writeGauge,
               "kyu": kyu.writeGauge}
    for job in json.load(sys.stdin):
        links = job["file"] + ".links.npy"
        try:
            if job["do"] == "read":
                np.save(links, readers[job["format"]](job["file"], job["lattice"]))
            else:
                writers[job["format"]](job["file"], job["lattice"], np.load(links))
            print(json.dumps("done"))
        except Exception as error:  # what PyQUDA thinks of a file is the test's to judge
            print(json.dumps(f"{type(error).__name__}: {error}"))


if __name__ == "__main__":
    main()
