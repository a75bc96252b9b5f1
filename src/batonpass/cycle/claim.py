"""Start a queued cycle now: while a stop hook is held, the engine's next look at its queue is far away.

The engine offers no public way to wake its queue. This does what its own worker does at every look: claim in one
transaction, by which exactly one runner gets each workflow, and run what was claimed. Recovery is the same,
and whatever fails here is left for the worker.
"""

import logging
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbos._queue import Queue

log = logging.getLogger(__name__)

_TRIES, _AGAIN_SECONDS = 4, 0.02


def claim(queue: "Queue") -> None:
    """Run what is queued for this host. Blocks for a few milliseconds; call it beside the event loop."""
    for _ in range(_TRIES):
        if _claimed(queue):
            return
        time.sleep(_AGAIN_SECONDS)


def _claimed(queue: "Queue") -> bool:
    try:
        # Names of the engine's own inside: a release without them costs a moment, not the daemon.
        from dbos._core import execute_dequeued_workflow
        from dbos._dbos import _get_dbos_instance
        from dbos._utils import GlobalParams, generate_uuid

        engine, owner = _get_dbos_instance(), generate_uuid()
        store = engine._sys_db
        claimed, _ = store.start_queued_workflows(
            queue, GlobalParams.executor_id, GlobalParams.app_version, None, owner_xid=owner
        )
        for workflow in claimed:
            status = store.get_workflow_status(workflow)
            if status is not None:
                execute_dequeued_workflow(engine, status, owner)
    except Exception as error:  # another worker holds the queue, or the database is away for a moment
        log.debug("left for the queue's own worker: %s", error)
        return False
    return True
