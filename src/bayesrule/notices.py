"""Warnings about results that rest on a doubtful step, one class for each kind of doubt."""

from __future__ import annotations


class BayesRuleWarning(UserWarning):
    """Base of every warning of this package."""


class NoSupportWarning(BayesRuleWarning):
    """Some rows have zero density under every class with a prior; they got the priors."""


class SingularScatterWarning(BayesRuleWarning):
    """A scatter could not be inverted and was regularised."""


class FewRowsWarning(BayesRuleWarning):
    """A class has too few rows for what is estimated from it."""


class FarRowsWarning(BayesRuleWarning):
    """Rows lie so far out, and are so many, that an estimate followed them."""


class NotConvergedWarning(BayesRuleWarning):
    """An iteration ended before its tolerance was met."""


class PriorsWarning(BayesRuleWarning):
    """Priors that the data hardly determine, or that do not fit the model they are used with."""


class PreparedOnChunkWarning(BayesRuleWarning):
    """Something was learned from the first chunk of a stream and is kept from then on."""


class KeptTuningWarning(BayesRuleWarning):
    """A density tuned for one decision rule is now used with another."""


class AbsentClassWarning(BayesRuleWarning):
    """A class has a prior but no rows to be judged by, or rows but no prior."""


class FractionalCountsWarning(BayesRuleWarning):
    """Values that are not whole were given to a law of counts."""


class LearnedOnSampleWarning(BayesRuleWarning):
    """Something that many rows would not change was learned from some of them."""


class MixedColumnWarning(BayesRuleWarning):
    """A column of a text file begins as numbers and holds text further down."""


class NoClassDecidedWarning(BayesRuleWarning):
    """Decisions that are no classes were counted against the classes."""


class NoMassWarning(BayesRuleWarning):
    """What is given as a density does not integrate to one."""


class NoWorkersWarning(BayesRuleWarning):
    """A cluster that works on a fit has no workers left."""
