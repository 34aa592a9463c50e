"""Claude Code in a terminal; `helper`: `claude -p`, which declares no tasks. A stand-in for the model makes the calls."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyte

URL, STEP = sys.argv[1:]
TOOL, ARGS = {
    "run": ("count", {"to": 8}),
    "question": ("split", {}),
    "cancel": ("wait", {}),
    "helper": ("count_inline", {"to": 6}),
    "file": ("render_film", {"title": "Rain", "megabytes": 1}),
}[STEP]
DONE = re.compile(r"counted to the end|4 people, 4 percent|is stopped\.|(?<=saved to )/[\w./-]+")
LINK = re.compile(r"http://127[\d.:]+/files/[\w.-]+/film\.bin")
READ = "ReadMcpResourceTool"
QUESTIONS = ["How many people?", "How much tip?"]
state = {"called": False, "result": None}


def say(**fact):
    print(json.dumps(fact), flush=True)


def answer(body):
    """What a model does: calls the tool, does what its answer says, and ends."""
    last = json.dumps(body["messages"][-1]).replace("\\", "")
    if found := DONE.search(last):
        state["result"] = found[0]
    elif STEP == "file" and (link := LINK.search(last)):
        say(file=link[0])
        return {**call("", {"server": "tasks", "uri": link[0]}), "name": READ}
    todo = re.search(r'get_task_result with {"taskId":"([\w.-]+)', last)
    background = re.search(r"moved to the background as task (\w+)", last)
    if STEP == "cancel" and background and not state["result"]:
        return {**call("", {"task_id": background[1]}), "name": "TaskStop"}
    names = {tool["name"] for tool in body.get("tools", [])}
    if "tool_result" in last and todo and not state["result"]:
        return call("get_task_result", {"taskId": todo[1]})
    if not state["called"] and f"mcp__tasks__{TOOL}" in names:
        state["called"] = True
        return call(TOOL, ARGS)
    return {"type": "text", "text": "ok"}


def call(name, args):
    return {"type": "tool_use", "id": f"toolu_{time.time_ns()}", "name": f"mcp__tasks__{name}", "input": args}


def events(body):
    block = answer(body)
    calls = block["type"] == "tool_use"
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    delta = ("input_json_delta", "partial_json", json.dumps(block["input"])) if calls else ("text_delta", "text", "ok")
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}
    start = {**block, "input": {}} if calls else {"type": "text", "text": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": start}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": delta[0], delta[1]: delta[2]}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "tool_use" if calls else "end_turn"}, "usage": usage}
    yield {"type": "message_stop"}


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = self.path.split("?")[0] == "/v1/messages"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if messages else "application/json")
        self.end_headers()
        lines = events(body) if messages else []
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in lines)
        self.wfile.write((text or '{"input_tokens":1}').encode())

    def log_message(self, *_):
        pass


def in_terminal(command, env, home):
    """Types the prompt until the tool is called, and fills in forms."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(home)
        os.execve(command[0], command, env)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    screen = pyte.Screen(120, 40)
    stream = pyte.ByteStream(screen)
    typed, asked, end = 0, 0, time.time() + 80
    while state["result"] is None and time.time() < end:
        if select.select([terminal], [], [], 0.5)[0]:
            stream.feed(os.read(terminal, 65536))
        if not state["called"] and time.time() - typed > 6:
            typed = time.time()
            keys(terminal, b"go", b"\r")
        if asked < len(QUESTIONS) and QUESTIONS[asked] in "\n".join(screen.display):
            say(question=QUESTIONS[asked])
            asked += 1
            keys(terminal, b"4", b"\r", b"\r")
    if state["result"] is None:
        print(*screen.display, sep="\n", file=sys.stderr)
    time.sleep(2)  # It does not wait until a cancel has arrived.
    os.kill(pid, 9)


def keys(terminal, *strokes):
    for stroke in strokes:
        time.sleep(1.5)
        os.write(terminal, stroke)


model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=model.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory() as home:
    config = {"mcpServers": {"tasks": {"type": "http", "url": URL}}}
    trusted = {os.path.realpath(home): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}
    known = {"hasCompletedOnboarding": True, "theme": "dark", "projects": trusted}
    with open(os.path.join(home, ".claude.json"), "w") as file:
        json.dump({**known, "customApiKeyResponses": {"approved": ["stand-in"], "rejected": []}}, file)
    env = {"PATH": os.environ["PATH"], "HOME": home, "TERM": "xterm-256color", "ENABLE_TOOL_SEARCH": "false"}
    env |= {"DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1"}
    env |= {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.server_port}", "ANTHROPIC_API_KEY": "stand-in"}
    allowed = f"mcp__tasks__{TOOL},mcp__tasks__get_task_result,{READ}"
    command = [os.environ["CLAUDE"], "--mcp-config", json.dumps(config), "--strict-mcp-config", "--allowedTools", allowed]
    if STEP == "helper":
        subprocess.run([*command, "-p", "go"], env=env, cwd=home, capture_output=True, timeout=80)
    else:
        in_terminal(command, env, home)
    stopped = state["result"] == "is stopped."
    if STEP != "file":
        say(**({"status": "cancelled"} if stopped else {"result": state["result"]}))
    elif state["result"]:  # Claude Code keeps what it reads in a file.
        say(read=os.path.getsize(state["result"]))
