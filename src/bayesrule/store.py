"""Models as files: ``save(clf, "model.bayes")`` and ``load("model.bayes")``.

A ``.bayes`` file is a zip archive of a JSON text and plain arrays (:mod:`bayesrule.archive`). It
holds the settings, what was learned (statistics, and what came before counting) and the numbers of
the rule. The log-density is settled again from the statistics, which gives the same bits. Loading
runs no code: JSON and arrays become values of a closed list of types (:mod:`bayesrule.known`),
and a model is returned only after its parts have been found to agree.
"""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, BinaryIO

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from bayesrule import decide
from bayesrule.archive import Archive, write_archive
from bayesrule.aside import write_aside
from bayesrule.classifier import BayesClassifier
from bayesrule.codec import Decoder, Encoder
from bayesrule.density import LogDensity, memory_budget
from bayesrule.gains import NamedActions, _frame_rows, _is_frame, decision_classes
from bayesrule.keys import row_keys
from bayesrule.notices import KeptTuningWarning
from bayesrule.priors import Shifted
from bayesrule.settling import Settled
from bayesrule.soundness import require
from bayesrule.stored import STORED, Model, check_model, with_prepared
from bayesrule.strict_json import parse_document, shown, write_document
from bayesrule.tables import Table

FORMAT = "bayesrule model"

#: Raised by one whenever older versions could not read what is written.
FORMAT_VERSION = 1


class ModelFileError(ValueError):
    """A file is no model file, or is damaged, or was written by a newer version."""


def save(clf: BayesClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to a file.

    The file is written aside and renamed, so that a failure leaves what was there before. The same
    model gives the same bytes.

    Parameters
    ----------
    clf : BayesClassifier
        Fitted. Statistics that were added since are settled first.
    path : str or path
        By custom it ends in ``.bayes``; it is used as it is.

    Raises
    ------
    TypeError
        Where the model holds what plain arrays and JSON cannot: ``FromClassifier``, functions,
        labels that are dates. Nothing is written. Use skops or joblib for such models.

    Notes
    -----
    ``Shifted`` priors are stored as the array that was found, without ``X_new``, with a warning:
    the model that is read back keeps them when it learns more. Frames of gains are stored as nested
    dicts. scikit-learn's own settings of an object (metadata requests, ``set_output``) are
    not stored.

    Examples
    --------
    >>> import os, tempfile
    >>> from bayesrule import BayesClassifier, load, save
    >>> clf = BayesClassifier().fit([[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.bayes")
    ...     save(clf, path)
    ...     load(path).predict([[0.8]]).tolist()
    ['low']
    """
    if type(clf) is not BayesClassifier:
        raise TypeError(
            f"save stores a BayesClassifier, but got {type(clf).__name__}. Save the classifier "
            "inside it, or keep the whole by skops (skops.io.dump) or joblib (joblib.dump)."
        )
    check_is_fitted(clf)
    if isinstance(clf.priors, Shifted):
        warnings.warn(
            "Priors that were found in new rows are stored as they were found, without the rows: "
            "after more training the stored model keeps them.",
            KeptTuningWarning,
            stacklevel=2,
        )
    model = _model_of(clf)
    encoder = Encoder(STORED)
    parts = encoder.encode(model, "the classifier")
    check_model(with_prepared(model))
    document = write_document(
        {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "written_by": f"bayesrule {VERSION}",
            "model": parts,
        }
    )
    write_aside(path, lambda file: write_archive(file, document, encoder.arrays))


def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> BayesClassifier:
    """Read a classifier that :func:`save` has written.

    It decides as the saved one does, to the last bit, and can go on with ``partial_fit`` and
    ``merge``. Reading runs no code from the file.

    Parameters
    ----------
    path : str or path
    max_bytes : int, default=None
        Largest file that is read. Members are not compressed, so memory is bounded with it. None is
        the memory budget: ``BAYESRULE_MEMORY_GB``, or half of the machine's memory.

    Raises
    ------
    ModelFileError
        Where the file is damaged, is none of ours, or was written by a newer version.
    OSError
        Where it cannot be read at all.

    Examples
    --------
    See :func:`save`.
    """
    path = os.fsdecode(path)
    limit = memory_budget() if max_bytes is None else max_bytes
    state = os.stat(path)
    if not stat.S_ISREG(state.st_mode) and not stat.S_ISDIR(state.st_mode):
        raise ModelFileError(f"{path!r} is a device or a pipe, not a model file.")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise ModelFileError(
                f"{path!r} has {size} bytes, more than max_bytes={limit}. If you trust it to be "
                "that large, give load a larger max_bytes."
            )
        try:
            with np.errstate(all="ignore"):
                return _read(file, size)
        except (OSError, Warning):
            raise  # the disk, or warnings that the caller wants to be errors
        except _Newer as error:
            raise ModelFileError(f"{path!r} {error}") from None
        except MemoryError as error:
            raise ModelFileError(f"{path!r} needs too much memory. {error}") from error
        except Exception as error:
            kind = "" if type(error) is ValueError else f"{type(error).__name__}: "
            raise ModelFileError(
                f"{path!r} cannot be loaded: {kind}{str(error)[:500].rstrip('.')}. It is damaged, "
                "or no model file at all."
            ) from error


class _Newer(ValueError):
    """The file is fine, but this version is too old for it."""


def _version() -> str:
    try:
        return version("bayesrule")
    except PackageNotFoundError:  # run from its sources
        return "(not installed)"


#: Looked up here, since that imports modules and lists folders, which no file shall make us do.
VERSION = _version()


# ---------------------------------------------------------------------- from a classifier and back


def _model_of(clf: BayesClassifier) -> Model:
    """The parts of a classifier that are stored."""
    settled = clf._ready()
    names = getattr(clf, "feature_names_in_", None)
    solved = isinstance(clf.priors, Shifted)
    learned = clf._learned
    if learned.prepared is learned.density:
        learned = replace(learned, prepared=None)  # type: ignore[arg-type]
    return Model(
        clf.density,
        settled.rule.priors if solved else _named(clf.priors),
        _plain_gain(clf.gain),
        clf.random_state,
        learned,
        settled.rule,
        settled.decisions,
        settled.solution,
        bool(settled.randomised),
        getattr(clf, "n_features_in_", 0),
        names,
        clf._columns_in,
    )


def _named(priors: Any) -> Any:
    """Priors in a pandas Series are named by its index."""
    return priors.to_dict() if hasattr(priors, "index") and hasattr(priors, "to_dict") else priors


def _plain_gain(gain: Any) -> Any:
    """The gain with every frame as a nested dict."""
    if isinstance(gain, NamedActions):
        return NamedActions(_plain_gain(gain.base), gain.actions)
    if isinstance(gain, Mapping) or not _is_frame(gain):
        return gain
    return _frame_rows(gain)


def _read(file: BinaryIO, size: int) -> BayesClassifier:
    """The classifier in a file."""
    archive = Archive(file, size)
    top = parse_document(archive.document())
    if not isinstance(top, dict) or top.get("format") != FORMAT:
        raise ValueError("its JSON does not say that it is a model of bayesrule")
    number, writer = top.get("version"), shown(top.get("written_by"))
    if type(number) is not int or number < 1:
        raise ValueError(f"its format has the version {shown(number)}")
    if number > FORMAT_VERSION:
        raise _Newer(
            f"was written by {writer} in version {number} of the format; this is bayesrule "
            f"{VERSION}, which reads up to version {FORMAT_VERSION}. Update bayesrule."
        )
    if set(top) != {"format", "version", "written_by", "model"}:
        raise ValueError(f"its JSON has the keys {shown(sorted(top))}")
    decoder = Decoder(STORED, archive.array, archive.n_arrays)
    model = decoder.decode(top["model"])
    if decoder.unused:
        raise ValueError(f"nothing refers to the arrays {shown(decoder.unused)}")
    require(type(model) is Model, "its JSON holds no model")
    require(type(model.n_features) is int, "its number of features is no whole number")
    require(model.n_features <= size, "it has more features than bytes")
    model = with_prepared(model)
    return _classifier_of(model, check_model(model))


def _classifier_of(model: Model, row: Table) -> BayesClassifier:
    """The classifier of a checked model, tried on one row."""
    learned, rule = model.learned, model.rule
    log_density = learned.prepared.settle(learned.stats)
    require(isinstance(log_density, LogDensity), "its statistics settle into no density")
    # As a fresh one has it: loops are compiled for arrays that may be written to, or may not.
    rule.gain.setflags(write=False)
    clf = BayesClassifier(model.density, model.priors, model.gain, model.random_state)
    if model.n_features:  # texts have no number of features
        clf.n_features_in_ = model.n_features
    require(model.columns is None or type(model.columns) is list, "its columns are no list")
    clf._columns_in = model.columns
    if model.feature_names is not None:
        clf.feature_names_in_ = model.feature_names
    clf._learned = learned
    clf._settled = Settled(
        log_density,
        rule,
        model.decisions,
        decision_classes(model.decisions, learned.classes),
        model.solution,
        model.randomised,
    )
    # Settings may be others than were fitted; this much is asked of them before the next fit.
    _ = get_tags(clf), clf._density().normalised, clf._density().uses_rule
    values = log_density(row)
    require(values.shape == (1, len(learned.classes)), "its density is one of other classes")
    decide.best_decisions(values, rule.priors, rule.gain)
    if model.randomised:
        row_keys(row, model.random_state)
    return clf
