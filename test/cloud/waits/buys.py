"""A tool that waits, beside mcp_task.py."""

import time
from datetime import timedelta

from mcp_task import ask, link, map_steps, sleep, tool, webhook


@tool
def handler(arguments, event):
    approval = link(event, "approval", "Buy it?", {"ok": {"type": "boolean"}}, timedelta(days=3))
    paid = webhook(event, "paid/€", timedelta(days=1), {"type": "object", "required": ["n"]})
    ask(event, "urls", "%s %s" % (approval.url, paid.url), {})

    def work(item):
        time.sleep(0.5)
        return [item, event["task"]["round"]]

    parts = map_steps(event, "parts", range(12), work, concurrency=2)
    sleep(event, "a moment", timedelta(seconds=0.1))
    return {"answer": approval.answer(), "payment": paid.received(), "parts": parts}
