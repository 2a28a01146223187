"""The peer: our server as it is, granian, middleware, body and JSON included, answering a POST that stores nothing."""

from __future__ import annotations

import argparse
import asyncio
import json

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from beholder.server.app import DirectRoutes, SecurityHeaders
from beholder.server.process import listen
from beholder.server.requests import read_json

_REPLY = json.dumps({"stored_at": None, "step": "x" * 3000}).encode()
"""As large as the reply to an answer, which holds the next step."""


async def take(request: Request) -> Response:
    await read_json(request)
    return Response(_REPLY, media_type="application/json")


async def show(request: Request) -> Response:
    return Response("ready")


async def serve(port: int) -> None:
    routes = [Route("/", show), Route("/nothing", take, methods=["POST"])]
    app = DirectRoutes(Starlette(routes=routes), routes, {})
    async with listen(SecurityHeaders(app), "127.0.0.1", port):
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    asyncio.run(serve(parser.parse_args().port))
