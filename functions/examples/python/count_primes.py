"""Counts primes. Asks first if it takes long, shows its progress, and remembers each part that is done."""

from mcp_task import ask, progress, step, tool

PART = 10_000


def count(first, last):
    return sum(all(number % divisor for divisor in range(2, int(number**0.5) + 1)) for number in range(first, last))


@tool
def handler(arguments, event):
    limit = arguments["limit"]
    if limit > 20_000:
        answer = ask(event, "sure", f"Count primes below {limit}? It takes a while.", {"go": {"type": "boolean"}})
        if answer is None or not answer["go"]:
            return "Nothing was counted."
    primes = 0
    for first in range(0, limit, PART):
        if not progress(event, f"{primes} primes below {first}", first, limit):
            return None  # The task was cancelled: no client reads this.
        last = min(first + PART, limit)
        primes += step(event, f"from {first}", lambda: count(max(first, 2), last))
    return {"content": [{"type": "text", "text": f"{primes} primes below {limit}"}]}
