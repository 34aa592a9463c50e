"""pydantic-ai without tasks. A function stands in for the model: it does what the answer of a tool tells it to."""

import asyncio
import json
import re
import sys

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel


def model(messages, _info):
    part = messages[-1].parts[-1]
    if not isinstance(part, (ToolReturnPart, RetryPromptPart)):
        return ModelResponse(parts=[ToolCallPart("count_inline", {"to": 6})])
    seen = part.model_response() if isinstance(part, RetryPromptPart) else part.model_response_str()
    print(json.dumps({"seen": seen}), flush=True)
    todo = re.search(r'get_task_result with {\\*"taskId\\*":\s*\\*"([\w.-]+)', seen)
    if todo is None:
        return ModelResponse(parts=[TextPart(seen)])
    return ModelResponse(parts=[ToolCallPart("get_task_result", {"taskId": todo[1]})])


async def main():
    agent = Agent(FunctionModel(model), toolsets=[MCPToolset(sys.argv[1], prefer_tasks=False)])
    print(json.dumps({"result": (await agent.run("Count to 6")).output}))


asyncio.run(main())
