"""A server by the words of 2026, made with the protocol's own library: `stdio`, or the port that it listens on."""

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("modern")


@server.tool()
def add(a: int, b: int) -> int:
    "Adds two numbers."
    return a + b


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", port=int(sys.argv[1]))
