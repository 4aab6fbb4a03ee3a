"""Every planted fault is caught by its tool, and every honest twin passes."""

import pytest

from reticent import testing
from reticent.testing import FAULTS, Fault


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_fault_is_caught_and_the_twin_is_not(fault: Fault) -> None:
    assert fault.flags(fault.planted), f"{fault.tool} does not see: {fault.name}"
    assert not fault.flags(fault.honest), f"{fault.tool} flags the honest twin of: {fault.name}"


def test_caught_is_both() -> None:
    fault = Fault(name="x", tool="y", planted=int, honest=float, flags=lambda f: f is int)
    assert fault.caught
    assert not Fault(name="x", tool="y", planted=float, honest=float, flags=fault.flags).caught
    assert not Fault(name="x", tool="y", planted=int, honest=int, flags=fault.flags).caught


def test_every_fault_names_a_tool_that_exists() -> None:
    assert all(fault.tool in testing.__all__ for fault in FAULTS)
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) == 11
