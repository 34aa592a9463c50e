"""One tool that answers at once, on FastMCP 4 with docket: python fastmcp_server.py PORT DOCKET_URL"""

import sys

from fastmcp import FastMCP
from fastmcp_tasks import TasksExtension

PORT, DOCKET = sys.argv[1:]

mcp = FastMCP("short")
mcp.add_extension(TasksExtension(url=DOCKET))


@mcp.tool(task=True)
async def short() -> str:
    return "done"


mcp.run(transport="http", host="127.0.0.1", port=int(PORT), log_level="warning", show_banner=False, uvicorn_config={"access_log": False})
