"""Loops over triangular matrices, small enough that a call into a library would cost more."""

from __future__ import annotations

import math

import numpy as np

from bayesrule.kernels.compiler import compiled


@compiled(reassociate=True)
def in_units(inverse, variances):
    """Variances of columns in units of the scatter, C^-1 diag(v) C^-T, and their trace."""
    m = inverse.shape[0]
    around = np.empty((m, m))
    trace = 0.0
    for j in range(m):
        for i in range(j + 1):
            total = 0.0
            for c in range(i + 1):  # the inverse is a lower triangle
                total += inverse[j, c] * variances[c] * inverse[i, c]
            around[j, i] = around[i, j] = total
        trace += around[j, j]
    return around, trace


@compiled(reassociate=True)
def cholesky(matrix):
    """Lower factor; its first entry is NaN where there is none."""
    m = matrix.shape[0]
    factor = np.zeros((m, m))
    for j in range(m):
        for i in range(j, m):
            total = matrix[i, j]
            for c in range(j):
                total -= factor[i, c] * factor[j, c]
            if i == j:
                if not total > 0.0:
                    factor[0, 0] = math.nan
                    return factor
                factor[j, j] = math.sqrt(total)
            else:
                factor[i, j] = total / factor[j, j]
    return factor


@compiled
def lower_solve(factor, right):
    """factor^-1 right, in place of right; both are lower triangles."""
    m = factor.shape[0]
    for i in range(m):
        for c in range(i):
            by = factor[i, c]
            for j in range(c + 1):
                right[i, j] -= by * right[c, j]
        own = 1.0 / factor[i, i]
        for j in range(i + 1):
            right[i, j] *= own


@compiled
def triangle_times(left, right, out):
    """out = left right, where left is a lower triangle."""
    m = left.shape[0]
    for j in range(m):
        for i in range(m):
            out[j, i] = 0.0
        for c in range(j + 1):
            by = left[j, c]
            for i in range(m):
                out[j, i] += by * right[c, i]
