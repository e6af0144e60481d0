"""Bandwidths by KDEpy's improved Sheather-Jones rule, which tests compare with.

    python tests/references/kdepy_isj.py > tests/references/kdepy_isj.csv

KDEpy solves for the width in units of its grid, and multiplies by the range of the values, which is
less than half as long. The length of its grid over that range is given beside what it answers.
"""

from __future__ import annotations

import csv
from pathlib import Path

import KDEpy
import numpy as np
from KDEpy.bw_selection import improved_sheather_jones
from KDEpy.utils import autogrid

print(f"# KDEpy {KDEpy.__version__}")
print("set,isj,grid_over_range")
with (Path(__file__).parent / "bandwidths.csv").open() as file:
    next(file)
    for line in csv.DictReader(file):
        values = np.array(line["values"].split(), float)[:, None]
        grid = autogrid(values, boundary_abs=6, num_points=2**10, boundary_rel=0.5)
        isj = improved_sheather_jones(values)
        print(f"{line['set']},{isj:.9g},{np.ptp(grid) / np.ptp(values):.9g}")
