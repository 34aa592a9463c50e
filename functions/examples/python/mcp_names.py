"""The steps that a run is in, and the names that it has used: none comes twice, as what is done is found by it. For mcp_task.py."""

import contextlib
import contextvars
import re
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
    used, done = _names(event)
    with _lock:
        used.difference_update(done.pop(name, ()))
    around, before = _step.get(), _step.set(name)
    try:
        yield
    except BaseException as error:
        if error is journal_of(event).ended:
            journal_of(event).ended_steps.add(around)
        raise
    finally:
        _step.reset(before)


def stops(event):
    """Whether the round has ended for the code of this thread. A step that is under way goes on: it would have to do its work again."""
    journal, step = journal_of(event), _step.get()
    return journal.ended is not None and (step is None or step in journal.ended_steps)


def check_open(event):
    """Raises what has ended the round, if something has."""
    if stops(event):
        raise journal_of(event).ended


def end_round(event, ending):
    """Ends the round, by the first of several endings."""
    journal = journal_of(event)
    journal.ended = journal.ended or ending
    journal.ended_steps.add(_step.get())
    raise journal.ended


@contextlib.contextmanager
def keep_name(event, kind, name, label):
    """Keeps a name for the work inside, and from then on. Work that raises may be done again. Raises TypeError if the name is used."""
    (used, done), key = _names(event), (kind, name)
    with _lock:
        if key in used:
            raise TypeError("%s comes twice in one run: give each its own name" % label)
        used.add(key)
    try:
        yield
    except BaseException:
        with _lock:
            used.discard(key)
        raise
    with _lock:
        done.setdefault(_step.get(), set()).add(key)


def question_name(event, key):
    """Who asks under the same key again asks another question, and so does another step: a later run does not come to the
    questions of a step that is stored. A step that comes to its question again finds it by its own name."""
    step, (used, done), asked_by = _step.get(), _names(event), journal_of(event).asked_by
    with _lock:
        known = [name for name, by in asked_by.items() if by == step and key in (name, re.sub("~[0-9]+$", "", name))]
        own = next((name for name in known if ("question", name) not in used), None)
        name, times = own or key, 1
        while ("question", name) in used or (name in asked_by and name != own):
            times += 1
            name = "%s~%d" % (key, times)
        used.add(("question", name))
        done.setdefault(step, set()).add(("question", name))
        if step:
            asked_by[name] = step
    return name


def _names(event):
    """What the run has used, and what of it another try of a step may use again, by the step: all but what is under way."""
    return event.setdefault("_names", (set(), {}))
