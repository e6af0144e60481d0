"""Loops of the laws on counts and positive numbers: sums, and log-densities column by column.

A law's loop takes one column and adds its log-density to ``out`` (n, K), so that one loop serves
the sum over columns and the terms alike. What depends on the row only is computed once per value.
A missing value adds nothing, which marginalises it exactly.
"""

from __future__ import annotations

import math

import numpy as np

from bayesrule.kernels.compiler import compiled

#: From here on the series of Stirling's remainder is exact to rounding.
LARGE = 16.0

LOG_2PI = math.log(2.0 * math.pi)

#: log 0!, log 1!, ...: most counts are small, and the log-gamma function is slow.
LOG_FACTORIAL = np.array([math.lgamma(x + 1.0) for x in range(256)])


@compiled
def negatives_and_fractions(values):
    """How many values are below zero, and how many are not whole."""
    negatives = 0
    fractions = 0
    for i in range(values.size):
        value = values[i]
        negatives += value < 0.0
        # A missing value is unequal to everything, itself included, and is no fraction.
        fractions += (value == value) and (value != math.floor(value))
    return negatives, fractions


@compiled
def sums_of_values(values, rows, codes, weights, n_classes):
    """Weight per class; per class and column the weight of values, their sum, and that of zeros."""
    n_columns = values.shape[1]
    weight = np.zeros(n_classes)
    sums = np.zeros((n_classes, 3, n_columns))
    for e in range(rows.size):
        i = rows[e]
        k = codes[e]
        w = weights[e]
        weight[k] += w
        for j in range(n_columns):
            value = np.float64(values[i, j])
            if not math.isnan(value):
                sums[k, 0, j] += w
                sums[k, 1, j] += w * value
                sums[k, 2, j] += w if value == 0.0 else 0.0
    return weight, sums


@compiled
def stirling_remainder(z):
    """log gamma(z) - [(z - 1/2) log z - z + 1/2 log 2 pi] for z of at least ``LARGE``."""
    r = 1.0 / (z * z)
    return (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r / 1188)))) / z


@compiled
def log_factorial(count):
    """log(count!), also between whole numbers."""
    if count < 256.0 and count == math.floor(count):
        return LOG_FACTORIAL[int(count)]
    return math.lgamma(count + 1.0)


@compiled
def log1p_less(u):
    """log(1 + u) - u for u > -1, to rounding also where the two are equal in most digits."""
    if not -0.3 < u < 0.4:
        return math.log1p(u) - u
    # With s = u / (2 + u) it is log((1 + s) / (1 - s)) - u = 2 (s^3/3 + s^5/5 + ...) - s u.
    s = u / (2.0 + u)
    square = s * s
    series = 0.0
    for n in range(23, 1, -2):
        series = series * square + 1.0 / n
    return 2.0 * s * square * series - s * u


@compiled
def excess(x, mean):
    """x log(x / mean) + mean - x, which is zero at the mean and positive elsewhere."""
    ratio = x / mean
    if 0.72 < ratio < 1.42:
        return -x * log1p_less((mean - x) / x)
    log_ratio = math.log(ratio) if 0.0 < ratio < math.inf else math.log(x) - math.log(mean)
    return x * (log_ratio - 1.0) + mean


@compiled
def add_poisson(x, rate, log_rate, out):
    """x log rate - rate - log x!

    The three cancel where counts are large. Stirling's formula then leaves the excess over the
    rate, and terms of the size of log x (Loader, Fast and accurate computation of binomial
    probabilities, 2000).
    """
    for i in range(x.size):
        count = np.float64(x[i])
        if math.isnan(count):
            continue
        if count < 256.0:
            common = log_factorial(count)
            for k in range(rate.size):
                # A rate of zero allows a count of zero.
                gain = count * log_rate[k] if count > 0.0 else 0.0
                out[i, k] += gain - rate[k] - common
        else:
            common = stirling_remainder(count) + 0.5 * (math.log(count) + LOG_2PI)
            for k in range(rate.size):
                above = excess(count, rate[k]) if rate[k] > 0.0 else math.inf
                out[i, k] -= above + common


@compiled
def add_negative_binomial(x, shape, rate, out):
    """log [gamma(shape + x) / (gamma(shape) x!)] - shape log(1 + 1/rate) - x log(1 + rate).

    Where the shape is large, the log-gammas are equal in nearly all digits: Stirling's formula
    then leaves terms of the size of x. Where x is large, these cancel too, and leave the excess of
    the shape and of x over what their sum would have them be (Loader, as for Poisson counts).
    """
    n_classes = shape.size
    none = np.empty(n_classes)
    more = np.empty(n_classes)
    rest = np.empty(n_classes)
    for k in range(n_classes):
        none[k] = -shape[k] * math.log1p(1.0 / rate[k])
        if shape[k] < LARGE:
            none[k] -= math.lgamma(shape[k])
            more[k] = -math.log1p(rate[k])
            rest[k] = math.lgamma(shape[k]) + shape[k] - 0.5 * LOG_2PI
            rest[k] -= (shape[k] - 0.5) * math.log(shape[k])
        else:
            rest[k] = stirling_remainder(shape[k])
            none[k] -= rest[k]
            more[k] = math.log(shape[k] / (1.0 + rate[k])) - 1.0
    for i in range(x.size):
        count = np.float64(x[i])
        if math.isnan(count):
            continue
        if count < 256.0:
            common = log_factorial(count)
            for k in range(n_classes):
                both = shape[k] + count
                if shape[k] < LARGE:
                    rise = math.lgamma(both)
                else:
                    rise = (both - 0.5) * math.log1p(count / shape[k]) + stirling_remainder(both)
                out[i, k] += none[k] + count * more[k] + rise - common
        else:
            common = stirling_remainder(count) + 0.5 * (math.log(count) + LOG_2PI)
            for k in range(n_classes):
                both = shape[k] + count
                value = stirling_remainder(both) - rest[k] - common
                value += 0.5 * (math.log(shape[k]) - math.log(both))
                share = 1.0 / (1.0 + rate[k])
                value -= excess(shape[k], both * (rate[k] * share))
                value -= excess(count, both * share)
                # Near the largest number the parts overflow; the count is far from any rate.
                out[i, k] += value if value == value else -math.inf


@compiled
def add_exponential(x, rate, log_rate, out):
    """log rate - rate x"""
    for i in range(x.size):
        value = np.float64(x[i])
        if math.isnan(value):
            continue
        for k in range(rate.size):
            out[i, k] += log_rate[k] - rate[k] * value


@compiled
def add_lomax(x, shape, scale, log_peak, out):
    """log(shape / scale) - (shape + 1) log(1 + x / scale)"""
    for i in range(x.size):
        value = np.float64(x[i])
        if math.isnan(value):
            continue
        for k in range(shape.size):
            grown = math.log1p(value / scale[k])
            if grown == math.inf:  # the ratio has overflown
                grown = math.log(value) - math.log(scale[k])
            out[i, k] += log_peak[k] - (shape[k] + 1.0) * grown


@compiled
def add_gamma(x, shape, mean, log_mean, log_constant, log_zero, out):
    """log_constant + shape [log(x / mean) - x / mean + 1] - log x; ``log_zero`` where x is zero.

    The bracket is zero at the mean and negative elsewhere, and is found to rounding near it, so
    that a large shape costs no digits.
    """
    for i in range(x.size):
        value = np.float64(x[i])
        if math.isnan(value):
            continue
        log_value = math.log(value)
        for k in range(shape.size):
            if value == 0.0:
                out[i, k] += log_zero[k]
            else:
                above = (value - mean[k]) / mean[k]
                if -0.3 < above < 0.4:
                    bracket = log1p_less(above)
                else:
                    bracket = (log_value - log_mean[k]) - above
                out[i, k] += log_constant[k] + shape[k] * bracket - log_value


@compiled
def gamma_constants(shape):
    """a log a - a - log gamma(a) for each shape a, without the cancellation of large ones."""
    out = np.empty(shape.size)
    for k in range(shape.size):
        a = shape[k]
        if a < LARGE:
            out[k] = a * math.log(a) - a - math.lgamma(a)
        else:
            out[k] = 0.5 * math.log(a / (2.0 * math.pi)) - stirling_remainder(a)
    return out
