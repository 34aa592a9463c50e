"""Runs a Python function: asks the Lambda runtime API for events, one after the other."""

import importlib
import json
import os
import sys
import time
import traceback
import urllib.request

API = "http://%s/2018-06-01/runtime" % os.environ["AWS_LAMBDA_RUNTIME_API"]
ROOT = os.environ["LAMBDA_TASK_ROOT"]


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
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
    request = urllib.request.Request(API + path, data, {"Content-Type": "application/json"})
    urllib.request.urlopen(request).read()


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
        with urllib.request.urlopen(API + "/invocation/next") as response:
            headers, event = response.headers, json.loads(response.read())
        path = "/invocation/%s" % headers["Lambda-Runtime-Aws-Request-Id"]
        try:
            answer = handler(event, Context(headers))
            sys.stdout.flush()
            post(path + "/response", answer)
        except Exception as error:
            post(path + "/error", failure(error))


main()
