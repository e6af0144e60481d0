"""Pictures of a decision rule, in scikit-learn's style.

Each display holds the arrays it shows. ``from_estimator`` and ``from_predictions`` compute and
draw them; ``plot(ax=...)`` draws them again, elsewhere or otherwise. A decision has one colour and
a class one marker in all of them. Drawing needs matplotlib: ``pip install "bayesrule[plots]"``.
"""

from __future__ import annotations

from bayesrule.displays.cells import CellBoundariesDisplay, MemoryGainDisplay
from bayesrule.displays.comparison import ComparisonDisplay
from bayesrule.displays.confusion import ConfusionDisplay
from bayesrule.displays.contributions import ContributionDisplay
from bayesrule.displays.curves import GainCurveDisplay
from bayesrule.displays.densities import ClassDensityDisplay
from bayesrule.displays.estimates import DensityContourDisplay, DensityCurveDisplay
from bayesrule.displays.outlyingness import OutlyingnessDisplay
from bayesrule.displays.priors import PriorComparisonDisplay, PriorValueDisplay
from bayesrule.displays.profiles import ProfileDisplay
from bayesrule.displays.regions import DecisionRegionDisplay
from bayesrule.displays.robustness import RobustnessDisplay
from bayesrule.displays.words import WordCloudDisplay

__all__ = [
    "CellBoundariesDisplay",
    "ClassDensityDisplay",
    "ComparisonDisplay",
    "ConfusionDisplay",
    "ContributionDisplay",
    "DecisionRegionDisplay",
    "DensityContourDisplay",
    "DensityCurveDisplay",
    "GainCurveDisplay",
    "MemoryGainDisplay",
    "OutlyingnessDisplay",
    "PriorComparisonDisplay",
    "PriorValueDisplay",
    "ProfileDisplay",
    "RobustnessDisplay",
    "WordCloudDisplay",
]
