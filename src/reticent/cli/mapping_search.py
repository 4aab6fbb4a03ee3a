"""How ``reticent fit mapping`` searches: watched, stopped in time, compared with others, drawn.

Not here  options and columns (mapping.py), the search itself (tasks/learning.py).
"""

from __future__ import annotations

import math
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reticent.cli.failures import Failure
from reticent.cli.mapping_views import FEW
from reticent.cli.output import progress, talk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.optim.mapping import Step
    from reticent.tasks.learning import Learnt, Limits
    from reticent.tasks.recoding import Alphabet, Measure, Recoding

MANY_PROFILES = 4000  # from here on a search takes noticeably long
COMPARED = 3000  # profiles up to which the exponential mechanism is tried
_CURVE = 8  # distortions of a trade-off curve
_BELOW = 0.98  # of the chosen leak: how far the curve of another mechanism is drawn
_CODE = 3  # letters: a value so short needs the name of its column beside it
_PAIRS = 4e7  # of profiles that a search looks at in a second, roughly
_LEVELS = 60  # of a search: the length of its bar
_MINUTE = 60.0


@dataclass(slots=True)
class Watch:
    """Shows how a search goes on, and stops it for good: after a time, or once interrupted.

    A search that is interrupted gives its best mapping so far, and one of many would go on with the
    next: so each of them is interrupted.
    """

    seconds: float
    show: Callable[[str], None]
    began: float
    why: str = ""
    told: float = 0.0

    def __call__(self, step: Step) -> None:
        """Called by the solver with each step."""
        past = time.monotonic() - self.began
        if past > self.seconds and not self.why:
            self.why = f"stopped after {past:.0f} seconds"
        if self.why:
            raise KeyboardInterrupt
        bits = f"{step.leak / math.log(2):.4g} bits, at least {step.bound / math.log(2):.4g}"
        self.show(f"{past:.0f} s: {bits}")
        if past - self.told > _MINUTE and not sys.stderr.isatty():
            self.told = past
            talk(f"{past:.0f} s: {bits}")

    def reason(self, learnt: Learnt) -> str:
        """Why a search ended early; nothing if it did not."""
        return self.why or ("" if learnt.finished else f"stopped after {self.seconds:.0f} seconds")

    def stop(self, *_: object) -> None:
        """Called when somebody presses Ctrl-C."""
        self.why = "interrupted"
        raise KeyboardInterrupt


@contextmanager
def watching(seconds: float) -> Iterator[Watch]:
    """A watch that hears Ctrl-C, and a bar on stderr if that is a terminal."""
    with progress(_LEVELS) as show:
        watch = Watch(seconds, show, time.monotonic())
        try:
            before: Any = signal.signal(signal.SIGINT, watch.stop)
        except ValueError:  # not in the main thread
            yield watch
            return
        try:
            yield watch
        finally:
            signal.signal(signal.SIGINT, before)


def alphabet_of(
    public: NDArray[Any], private: NDArray[Any], at_least: int, measure: Measure
) -> tuple[Alphabet, int]:
    """Who has which profile and secret, and how many profiles are rare."""
    from reticent.tasks.recoding import Alphabet

    alphabet = Alphabet.of(public, private)
    if len(alphabet.secrets) < 2:
        why = "whoever knows the column knows them all, released or not"
        raise Failure("everybody has the same secret: there is nothing to hide", why=why)
    held = alphabet.counts.sum(axis=0)
    if at_least > held.max():
        why = "give a smaller number, fewer columns (--public) or wider ranges (--bins)"
        raise Failure(f"no profile is one of {at_least} people or more", why=why)
    if at_least > 1:
        alphabet = alphabet.at_least(at_least, measure)
    return alphabet, int((held < FEW).sum())


def check_size(alphabet: Alphabet, limits: Limits, seconds: float, instead: str) -> None:
    """Refuse what cannot be done with so many profiles; say what will take long."""
    from reticent.optim.mapping_baselines import MOST_PERFECT

    many = len(alphabet.profiles)
    fewer = "--bins, --at-least or --public make fewer profiles"
    if not limits.bits.all() and many > MOST_PERFECT:
        what = f"telling nothing at all needs at most {MOST_PERFECT} profiles, not {many}"
        raise Failure(
            what, why=f"{fewer}; --leak 0.001 tells next to nothing", next_command=instead
        )
    if limits.epsilon is not None and many > COMPARED:
        what = f"--epsilon needs at most {COMPARED} profiles, not {many}"
        raise Failure(what, why=f"with it each may become each other; {fewer}")
    if many > MANY_PROFILES:
        step = max(many**2 / _PAIRS, 1.0)
        talk(
            f"{many} different profiles: a step of the search takes about {step:.0f} seconds or "
            f"more, and there are many. After {seconds:.0f} seconds (--seconds), looked at after "
            "each step, or with Ctrl-C after the first, the best mapping so far is taken; "
            f"{fewer}"
        )


def check_found(learnt: Learnt, limits: Limits, watch: Watch) -> None:
    """Refuse for an answer, when time was short, profiles as they are or one for everybody."""
    if learnt.finished and not watch.why:
        return
    why = "--seconds gives more time; --bins, --at-least or --public (fewer columns) make it easier"
    ended, channel = watch.reason(learnt), learnt.solution.channel
    if channel.support.max() == 1 and learnt.distortion == 0:
        raise Failure(f"{ended}: nothing better than the profiles themselves yet", why=why)
    if not learnt.finished and limits.delta is None and (channel.outs == channel.outs[0]).all():
        what = "nothing better yet than releasing everybody as one and the same profile"
        raise Failure(f"{ended}: {what}", why=why)


def exponential_distortion(learnt: Learnt) -> float | None:
    """What the exponential mechanism would change to tell as little; None for large alphabets."""
    from reticent.optim.mapping import Problem
    from reticent.optim.mapping_baselines import exponential_at

    alphabet, recoding = learnt.alphabet, learnt.recoding
    if len(alphabet.profiles) > COMPARED or learnt.leak_bits >= learnt.untouched_bits:
        return None
    distance = recoding.measure.distance(alphabet.profiles)
    problem = Problem.of(alphabet.joint, distance, 0.0)
    return exponential_at(problem, leak=learnt.leak_bits * math.log(2)).distortion


def tested(
    learnt: Learnt, public: NDArray[Any], private: NDArray[Any]
) -> tuple[Learnt, float | None]:
    """The mapping with what it tells about other people, and what their true profiles tell."""
    from reticent.optim.mapping import Channel
    from reticent.tasks.held_out import held_out
    from reticent.tasks.leakage import counted, leak_under

    found = held_out(learnt.recoding, learnt.alphabet, public, private)
    counts, _ = counted(learnt.recoding, learnt.alphabet.secrets, public, private)
    before = leak_under(Channel.identity(counts.shape[1]), counts) if found.people else None
    return learnt.tested(found), before


def tradeoff(learnt: Learnt, watch: Watch) -> str:
    """Leak against distortion, ours and of two mechanisms that do not look at the law."""
    from reticent.optim.mapping import Problem
    from reticent.optim.mapping_baselines import MOST_PERFECT, exponential_at, perfect_privacy
    from reticent.report.mapping_figures import TradeOff, tradeoff_figure
    from reticent.tasks.leakage import BITS
    from reticent.tasks.learning import trade_off

    alphabet, recoding = learnt.alphabet, learnt.recoding
    measure, law = recoding.measure, learnt.law
    problem = Problem.of(alphabet.joint, measure.distance(alphabet.profiles), 0.0)
    small = len(alphabet.profiles) <= MOST_PERFECT
    perfect = perfect_privacy(problem).distortion if small else None
    most = max(1.5 * law.distortion, 0.02) if perfect is None else perfect
    deltas = [most * step / _CURVE for step in range(_CURVE + 1)]
    if all(abs(law.distortion - delta) > 0.01 * most for delta in deltas):
        deltas = sorted([*deltas, law.distortion])  # the chosen one lies on the curve
    found = trade_off(alphabet, deltas, measure=measure, progress=watch)
    points = {
        round(one.distortion, 9): TradeOff(one.distortion, one.leak * BITS, one.bound * BITS)
        for one in found
    }
    baselines = {}
    if len(alphabet.profiles) <= COMPARED:
        alike = [exponential_at(problem, distortion=delta) for delta in deltas[1::2]]
        if alike[-1].leak > law.bits / BITS:  # drawn until it tells as little as ours
            far = exponential_at(problem, leak=_BELOW * law.bits / BITS).distortion
            steps = [deltas[-1] + (far - deltas[-1]) * k / _CURVE for k in range(1, _CURVE)]
            alike += [exponential_at(problem, distortion=delta) for delta in [*steps, far]]
        pairs = [(one.distortion, one.leak * BITS) for one in alike]
        baselines = {"exponential mechanism": [(0.0, learnt.untouched_bits), *pairs]}
    return tradeoff_figure(
        list(points.values()),
        chosen=(law.distortion, law.bits),
        baselines=baselines,
        untouched=learnt.untouched_bits,
        perfect=perfect,
        unit=measure.unit,
        secret=recoding.mechanism.secret,
    )


def picture(learnt: Learnt) -> str:
    """What becomes what, in the commonest changes."""
    from reticent.report.mapping_figures import mapping_figure

    labels, law = picture_labels(learnt.recoding), learnt.law
    return mapping_figure(law.channel, labels, law.joint.sum(axis=0))


def picture_labels(recoding: Recoding) -> list[str]:
    """Values of each profile, beside the names of their columns where they say little alone."""
    columns = []
    for name, values in zip(recoding.columns, recoding.profiles.T.tolist(), strict=True):
        texts = [str(value).replace(" to below ", "-").replace(" to ", "-") for value in values]
        bare = all(len(text) <= _CODE or not re.search(r"[^\W\d_]{2}", text) for text in texts)
        columns.append([f"{name} {text}" if bare else text for text in texts])
    return [", ".join(parts) for parts in zip(*columns, strict=True)]


def features(learnt: Learnt) -> str:
    """What each column tells about the secret, before and after."""
    from reticent.optim.mapping import Channel
    from reticent.report.attack_figures import feature_figure
    from reticent.tasks.leakage import features as bits

    law, recoding = learnt.law, learnt.recoding
    before = bits(Channel.identity(len(recoding.profiles)), law.joint, recoding.profiles)
    after = bits(law.channel, law.joint, recoding.profiles)
    return feature_figure(recoding.columns, before.tolist(), after.tolist())


def learnt_mapping(
    alphabet: Alphabet,
    limits: Limits,
    watch: Watch,
    *,
    seconds: float,
    **told: Any,
) -> Learnt:
    """The mapping, and the widths of its ranges with it."""
    from reticent.tasks.learning import learn_mapping

    widths = told.pop("widths")
    learnt = learn_mapping(alphabet, replace(limits, seconds=seconds), progress=watch, **told)
    return replace(learnt, recoding=replace(learnt.recoding, widths=widths))
