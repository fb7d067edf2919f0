"""A client of tools made with the protocol's own library. Its arguments are how it greets (`legacy`, as in 2025, or `auto`), and
the command of a server. It writes one JSON object: the server, its tools, and what came of a read and of a command."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def call(client, tool, arguments):
    result = await client.call_tool(tool, arguments)
    return {"text": "".join(block.text for block in result.content), "failed": result.is_error}


async def main(mode, command):
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(server, mode=mode) as client:
        said = {
            "version": client.protocol_version,
            "server": client.server_info.name,
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "read": await call(client, "read", {"path": "a.txt"}),
            "command": await call(client, "bash", {"command": "touch made"}),
        }
    print(json.dumps(said))


asyncio.run(main(sys.argv[1], sys.argv[2:]))
