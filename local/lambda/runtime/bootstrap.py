"""Runs a Python function: asks the Lambda runtime API for events, one after the other."""

import importlib
import json
import math
import os
import sys
import time
import traceback
import urllib.request

API = "http://%s/2018-06-01/runtime" % os.environ["AWS_LAMBDA_RUNTIME_API"]
ROOT = os.environ["LAMBDA_TASK_ROOT"]
# Past every proxy: this is the same machine.
OPEN = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


class Context:
    """What AWS gives a function beside its event."""

    def __init__(self, headers):
        self.aws_request_id = headers["Lambda-Runtime-Aws-Request-Id"]
        self.invoked_function_arn = headers["Lambda-Runtime-Invoked-Function-Arn"]
        self.function_name = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
        self.function_version = os.environ["AWS_LAMBDA_FUNCTION_VERSION"]
        self.memory_limit_in_mb = os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]
        self.log_group_name = os.environ["AWS_LAMBDA_LOG_GROUP_NAME"]
        self.log_stream_name = os.environ["AWS_LAMBDA_LOG_STREAM_NAME"]
        self._deadline = int(headers["Lambda-Runtime-Deadline-Ms"])

    def get_remaining_time_in_millis(self):
        return max(0, self._deadline - int(time.time() * 1000))


def post(path, body):
    data = dumps(body).encode("utf-8", "surrogatepass")
    OPEN(urllib.request.Request(API + path, data, {"Content-Type": "application/json"})).read()


def dumps(value):
    """As AWS does: a Decimal of DynamoDB is a number, NaN is null."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=number)
    except ValueError:
        return json.dumps(without_nan(json.loads(json.dumps(value, default=number))), ensure_ascii=False)


def number(value):
    if type(value).__name__ == "Decimal":
        return int(value) if value == int(value) else float(value)
    raise TypeError("Object of type %s is not JSON serializable" % type(value).__name__)


def without_nan(value):
    if isinstance(value, dict):
        return {key: without_nan(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [without_nan(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def failure(error):
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename != __file__ and "importlib" not in frame.filename]
    return {
        "errorType": type(error).__name__,
        "errorMessage": str(error),
        "stackTrace": ["    at %s (%s:%d)" % (frame.name, frame.filename, frame.lineno) for frame in reversed(own)],
    }


def load():
    module, _, name = os.environ["_HANDLER"].rpartition(".")
    sys.path.insert(0, ROOT)
    return getattr(importlib.import_module(module.replace("/", ".")), name)


def main():
    try:
        handler = load()
    except BaseException as error:
        post("/init/error", failure(error))
        sys.exit(1)
    while True:
        with OPEN(API + "/invocation/next") as response:
            headers, event = response.headers, json.loads(response.read())
        path = "/invocation/%s" % headers["Lambda-Runtime-Aws-Request-Id"]
        try:
            answer = handler(event, Context(headers))
            sys.stdout.flush()
            post(path + "/response", answer)
        except Exception as error:
            post(path + "/error", failure(error))


main()
