"""Every density obeys every law, and the laws catch a density that breaks them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from densities import Listed, every_density

from bayesrule.testing import LAWS, Case, check_density


@every_density()
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law: Callable[[Case], None], listed: Listed) -> None:
    check_density(listed.density, laws=[law], **listed.claims)
