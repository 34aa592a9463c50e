"""Files beside a task, which its result links to. For mcp_task.py."""

import base64
import contextlib
import hashlib
import json
import re
import threading
import time
import urllib.parse
import uuid

from mcp_journal import DAY, client, journal_of, query, write
from mcp_names import check_open, keep_name
from mcp_waits import begin

MOST = 100  # Files of a task.
BYTES = 5_000_000_000  # Of one file.
NAME = 200  # Characters of a name.
PART = 5 * 1024 * 1024  # Bytes of a part: the least that S3 takes.
OWNERS = "progress#files#"  # The partition of the files of an owner begins with it.
CONFLICTS = 5  # Attempts after one that S3 still works on.
TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+( *; *[\w!#$&^.+-]+=(\"[ !#-\[\]-~]*\"|[\w!#$&^.+-]+))*", re.ASCII)
_lock = threading.Lock()
SHOWN = re.compile(r"image/(?!svg)|video/|audio/|text/plain\b|application/pdf\b", re.IGNORECASE)


def file(event, name, body, content_type="application/octet-stream"):
    """Stores a file of up to 5 GB, and returns the link to it: a block for the `content` of the result.

    `body`: text, bytes, an object with `read(size)`, an iterable of texts or bytes, or a function that makes one, which is
    called only if the task has no file of this name. `name`: 1 to 200 characters without a slash. Readers see the file
    once all of it is stored. The tool is registered with `files: true`.

    Raises ValueError for a name, type or size that is not allowed, for a file too many, and in a call without a task.
    """
    task, label = event.get("task"), "File '%s'" % str(name)[:64]
    if not _is_name(name):
        raise ValueError("%s: a name has 1 to %d characters, no slash and no control character" % (label, NAME))
    if len(content_type) > 128 or not TYPE.fullmatch(content_type):
        raise ValueError("%s: '%s' is no media type" % (label, content_type))
    if task is None:
        raise ValueError(label + ": a call without a task has no files")
    check_open(event)
    known = _stored(event, task)
    with keep_name(event, "file", name, label):
        if name not in known:
            begin(event)
            with _room(event, label, known) as stored:
                began, source = time.monotonic(), body() if callable(body) else body
                stored[name] = _upload(task, label, name, source, content_type)
            event["_longest"] = max(event.get("_longest", 0), time.monotonic() - began)
            journal_of(event).files += 1
        return _link(known[name])


@contextlib.contextmanager
def _room(event, label, known):
    """Keeps room for a file while it is stored. The items of a map store files at the same time."""
    with _lock:
        uploads = event.get("_uploads", 0)
        if len(known) + uploads >= MOST:
            raise ValueError("%s: a task has %d files at most" % (label, MOST))
        event["_uploads"] = uploads + 1
    stored = {}
    try:
        yield stored
    finally:
        with _lock:
            known.update(stored)
            event["_uploads"] -= 1


def preview(event, link):
    """Shows a file while the tool works: its link stands behind the message of each `progress` from now on."""
    event["_preview"] = "Preview: " + link["uri"]


def with_preview(event, message):
    """The message of a report. It is cut, and the link to the preview is not."""
    shown = event.get("_preview")
    if shown is None:
        return message[:500]
    return (message[: 499 - len(shown)] + "\n" + shown).lstrip("\n")


def _stored(event, task):
    """The files of the task by name. An earlier run, or one beside this one, may have stored some."""
    if "_files" not in event:
        past = task["round"] > 1 or task["attempt"] > 0 or "run" in task
        event.setdefault("_files", _noted(task) if past else {})
    return event["_files"]


def _noted(task):
    found = query(task, "begins_with(#sort, :sort)", "#", OWNERS).values()
    # One with another deadline is of an older task with the same idempotency key.
    files = [json.loads(item["value"]) for item in found]
    return {one["name"]: one for one in files if one.get("deadline") == _deadline(task)}


def _upload(task, label, name, body, content_type):
    source = _Measured(label, body)
    made = {"id": base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("="), "name": name, "type": content_type}
    from boto3.s3.transfer import TransferConfig

    s3 = client("s3")
    for operation in ("PutObject", "CompleteMultipartUpload"):
        # The uploader does not know the argument. A handler of the same id counts once.
        s3.meta.events.register("before-parameter-build.s3." + operation, _as_new, unique_id="mcp-" + operation)
    # Not for the end of an upload in parts: after this error S3 wants all of it again.
    s3.meta.events.register("needs-retry.s3.PutObject", _after_conflict, unique_id="mcp-again")
    try:
        s3.upload_fileobj(
            source,
            task["results"],
            _key(task, made["id"]),
            ExtraArgs={"ContentType": content_type, "ContentDisposition": _disposition(name, content_type)},
            Config=TransferConfig(multipart_threshold=PART, multipart_chunksize=PART, max_concurrency=2, max_io_queue=2),
        )
    except s3.exceptions.ClientError as error:
        # An attempt has stored it, and its answer was lost: the key is random, and the upload has no other reason to be over.
        # Only what ends the upload: its source may raise the same, and then it was not read to its end.
        ends = error.operation_name in ("PutObject", "CompleteMultipartUpload") and source.ended
        if not ends or error.response["Error"]["Code"] not in ("PreconditionFailed", "NoSuchUpload"):
            raise
    made.update(bytes=source.bytes, sha256=source.hash.hexdigest())
    values = {"value": {"S": json.dumps({**made, "deadline": _deadline(task)}, ensure_ascii=False, separators=(",", ":"))}}
    # A file is listed as long as its task may be read.
    listed = {**task, "taskDeadline": _deadline(task) + int(task.get("maxTtl", DAY * 1000))}
    if write(listed, "#" + name, ("value",), values, "#expiresAt < :expiresAt", partition=OWNERS):
        return made
    # Another run has stored it first.
    return _noted(task).get(name, made)


def _deadline(task):
    return task.get("taskDeadline", task["deadline"])


def _as_new(params, **_):
    """No file takes the place of another one: the policy of a tool allows no other write."""
    if params["Key"].startswith("files/"):
        params["IfNoneMatch"] = "*"


def _after_conflict(response, attempts, **_):
    """Seconds until another attempt: S3 still works on the one before it, whose answer was lost. None: no other one."""
    code = response[1].get("Error", {}).get("Code") if response else None
    return 0.1 * 2**attempts if code == "ConditionalRequestConflict" and attempts <= CONFLICTS else None


class _Measured:
    """Reads a body once, piece by piece."""

    def __init__(self, label, body):
        self.label, self.hash, self.bytes, self.rest, self.ended = label, hashlib.sha256(), 0, b"", False
        if isinstance(body, (str, bytes, bytearray)):
            body = iter([body])
        elif hasattr(body, "read"):
            stream = body
            body = iter(lambda: stream.read(1024 * 1024), type(stream.read(0))())
        self.pieces = iter(body)

    def read(self, size=-1):
        pieces, length = [self.rest], len(self.rest)
        while size < 0 or length < size:
            piece = next(self.pieces, None)
            if piece is None:
                self.ended = True
                break
            pieces.append(piece.encode() if isinstance(piece, str) else bytes(piece))
            length += len(pieces[-1])
        whole = b"".join(pieces)
        given, self.rest = (whole, b"") if size < 0 else (whole[:size], whole[size:])
        self.bytes += len(given)
        if self.bytes > BYTES:
            raise ValueError("%s is too large: a file takes %d bytes at most" % (self.label, BYTES))
        self.hash.update(given)
        return given


def _link(made):
    digest = base64.urlsafe_b64encode(bytes.fromhex(made["sha256"])).decode().rstrip("=")
    return {
        "type": "resource_link",
        "uri": "mcp-task-file:%s.%s/%s" % (made["id"], digest, path_name(made["name"])),
        "name": made["name"],
        "mimeType": made["type"],
        "size": made["bytes"],
        "_meta": {"mcp-task-server/sha256": made["sha256"]},
    }


def path_name(name):
    """A part of a URL that says what the file is."""
    part = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[-60:]
    return "file" if re.fullmatch(r"\.*", part) else part


def _disposition(name, content_type):
    how = "inline" if SHOWN.match(content_type) else "attachment"
    return "%s; filename=\"%s\"; filename*=UTF-8''%s" % (how, path_name(name), urllib.parse.quote(name, safe="!~"))


def _key(task, file_id):
    folder = json.dumps([task["owner"], task["taskId"]], separators=(",", ":"))
    return "files/%s/%s" % (hashlib.sha256(folder.encode()).hexdigest(), file_id)


def _is_name(name):
    try:
        return isinstance(name, str) and 0 < len(name.encode()) and len(name) <= NAME and not re.search(r"[/\x00-\x1f\x7f]", name)
    except UnicodeEncodeError:  # Half of a surrogate pair.
        return False
