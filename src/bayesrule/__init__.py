"""Decisions under costs: a density per class, priors, a gain matrix, the best decision.

    gain of decision d at x   =   sum over classes k of   gain[k, d] * P(k | x)
    P(k | x)                  ∝   prior[k] * density(x | k)
    decide(x)                 =   the d of highest gain

Names are imported when they are first used, so that ``import bayesrule`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: Every public name and the module it lives in.
_HOME = {
    "BadFileError": "parts",
    "BayesClassifier": "classifier",
    "Bernoulli": "discrete",
    "CannotExportError": "exporting.arithmetic",
    "Categorical": "discrete",
    "Cells": "cells",
    "CellProfiles": "grids",
    "Columns": "columns",
    "Comparison": "comparison",
    "DecisionReport": "decision_report",
    "DensityEstimate": "density_estimate",
    "Elliptical": "elliptical",
    "Evaluation": "evaluation",
    "Exponential": "rates",
    "FeatureNoise": "noise",
    "ForestProfiles": "forest",
    "FromClassifier": "foreign",
    "FuzzyCMeans": "cmeans",
    "FuzzyProfiles": "centers",
    "Gamma": "positive",
    "GammaPrior": "rates",
    "Gaussian": "gaussian",
    "Histogram": "histogram",
    "KMeansProfiles": "centers",
    "Kernel": "kernel",
    "LabelNoise": "noise",
    "LogNormal": "positive",
    "MeanPrior": "conjugate",
    "Minimax": "minimax",
    "LostRowsError": "spread",
    "ModelFileError": "store",
    "MixtureProfiles": "mixtures",
    "Multinomial": "multinomial",
    "Neighbors": "neighbors",
    "NormalInverseWishart": "conjugate",
    "Poisson": "rates",
    "Pooled": "pooling",
    "PriorComparison": "prior_comparison",
    "Profiled": "profiled",
    "RobustnessCurve": "robustness",
    "ScaleNoise": "noise",
    "Shifted": "priors",
    "StudentScatter": "scatters",
    "TylerScatter": "scatters",
    "TreeProfiles": "trees",
    "Whole": "whole",
    "Words": "words",
    "loss": "gains",
    "with_action": "gains",
    "compare": "comparison",
    "compare_priors": "prior_comparison",
    "datasets": None,
    "evaluate": "evaluation",
    "evaluate_files": "evaluation_passes",
    "expected_gain_score": "evaluation",
    "expected_gain_scorer": "evaluation",
    "export": "exporting.front",
    "load": "store",
    "recipes": None,
    "report": "decision_report",
    "report_files": "report_passes",
    "robustness_curve": "robustness",
    "save": "store",
    "top_words": "word_evidence",
    "trusted_types": "trusted",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("bayesrule")
    if name not in _HOME:
        raise AttributeError(f"module 'bayesrule' has no attribute {name!r}")
    home = _HOME[name]
    if home is None:
        return import_module(f"bayesrule.{name}")
    value = getattr(import_module(f"bayesrule.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
