"""A receiver of events that verifies with the package standardwebhooks. Prints its port, then each event."""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(sys.argv[1])


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            event = webhook.verify(body, dict(self.headers))
        except WebhookVerificationError:
            return self.answer(401, b"")
        if event.get("type") == "verification":
            return self.answer(200, json.dumps({"challenge": event["challenge"]}).encode())
        print(json.dumps(event), flush=True)
        self.answer(204, b"")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
