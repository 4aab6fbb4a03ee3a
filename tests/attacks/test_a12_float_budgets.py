"""A12: a budget kept in floats lets small spends through for ever; integers do not."""

from reticent.errors import BudgetExceeded
from reticent.guarantees import RECORD, Accountant, Event, PureDP

SPENDS = 2 * 10**4


class FloatAccountant:
    """The control: sums floats, as most ledgers do."""

    def __init__(self, limit: float) -> None:
        self.limit, self.spent = limit, 0.0

    def spend(self, epsilon: float) -> bool:
        if self.spent + epsilon > self.limit:
            return False
        self.spent += epsilon
        return True


def test_after_exhaustion_nothing_is_accepted() -> None:
    accountant = Accountant(unit=RECORD, limit=1)
    for _ in range(10):
        accountant.compose(Event("spend", {}, PureDP.of(0.1, RECORD), True))
    sizes = [10**k for k in range(10)]  # from one nano-epsilon to a whole one
    events = [Event("spend", {}, PureDP(nano, RECORD), True) for nano in sizes]
    accepted = 0
    for n in range(SPENDS):
        if not accountant.would_exceed(events[n % len(events)]):
            accepted += 1
    assert accepted == 0
    for event in events:
        try:
            accountant.compose(event)
        except BudgetExceeded as refusal:
            assert refusal.left == 0
        else:
            raise AssertionError(f"{event.loss} was accepted")
    assert accountant.spent == PureDP.of(1, RECORD)


def test_the_float_control_accepts_them_all() -> None:
    control = FloatAccountant(1.0)
    assert control.spend(1.0)
    assert all(control.spend(1e-17) for _ in range(SPENDS))


def test_ten_tenths_do_not_make_one_in_floats() -> None:
    control = FloatAccountant(0.3)
    assert [control.spend(0.1) for _ in range(3)] == [True, True, False]  # 0.1 + 0.2 > 0.3
