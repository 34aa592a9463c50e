"""The names that a run has used: what a task has done is found by its name, so none comes twice. For mcp_task.py."""

import contextlib
import contextvars
import threading

from mcp_journal import journal_of

_step = contextvars.ContextVar("step", default=None)
_lock = threading.Lock()  # The items of a map are done by threads.


def step_of_thread():
    """The step whose work a thread does: the innermost of several. None outside of steps."""
    return _step.get()


@contextlib.contextmanager
def in_step(event, name):
    """One try of a step: nothing inside of it ends the round, nor in the threads of a map inside. The step has begun.

    It may use again what the try before it has used. What that has left under way keeps its name: nothing is done twice
    at the same time.
    """
    used = _used(event)
    with _lock:
        for key in [key for key, (step, done) in used.items() if done and step == name]:
            del used[key]
    before = _step.set(name)
    try:
        yield
    finally:
        _step.reset(before)


@contextlib.contextmanager
def keep_name(event, kind, name, label):
    """Keeps a name for the work inside, and from then on. Work that raises may be done again. Raises TypeError if the name is used."""
    used, key = _used(event), (kind, name)
    with _lock:
        if key in used:
            raise TypeError("%s comes twice in one run: give each its own name" % label)
        used[key] = _step.get(), False
    try:
        yield
    except BaseException:
        del used[key]
        raise
    used[key] = _step.get(), True


def question_name(event, key):
    """Who asks under the same key again asks another question, and so does another step: a later run does not come to the
    questions of a step that is stored."""
    step, used, asked_by = _step.get(), _used(event), journal_of(event).asked_by
    with _lock:
        name, times = key, 1
        while ("question", name) in used or asked_by.get(name, step) != step:
            times += 1
            name = "%s~%d" % (key, times)
        used["question", name] = step, True
        if step:
            asked_by[name] = step
    return name


def _used(event):
    return event.setdefault("_used", {})
