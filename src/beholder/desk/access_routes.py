"""Routes about who may come in: logging in and out, sessions, accounts, tokens and shares."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from beholder.desk import operations
from beholder.desk.accounts import Account, accounts, add_account, remove_account, use_password
from beholder.desk.context import Desk, read_object
from beholder.desk.gate import NotAllowed, not_here
from beholder.desk.logins import DeskSession, end_session, open_sessions, use_link
from beholder.desk.operations import DeskRoute
from beholder.desk.shares import make_share, open_shares, revoke_share, shareable, use_share
from beholder.desk.tokens import TOKEN_SCOPES, make_token, open_tokens, revoke_token
from beholder.desk.viewer import ROLE_SCOPES, ROLES, SCOPE_MEANS
from beholder.errors import Problem
from beholder.server.requests import JsonReply


def access_routes(desk: Desk) -> list[DeskRoute]:
    """Return the routes about who may come in."""
    gate, file = desk.gate, desk.gate.file

    async def log_in(request: Request) -> Response:
        desk.require_own_host(request)
        desk.require_own_origin(request)
        texts = {name: value for name, value in (await read_object(request)).items() if isinstance(value, str)}
        address, name = request.scope.get("beholder.address", ""), texts.get("name", "")
        if (seconds := desk.tries.wait_s(address, name)) > 0:
            wait = str(int(seconds) + 1)
            raise NotAllowed(429, Problem("log-in", f"waits {wait} s after wrong tries"), {"retry-after": wait})
        # Counted before it is looked at: many at once do not slip through.
        desk.tries.count(address, name)
        begun, wrong = await _begin(desk, texts, request.headers.get("user-agent", ""))
        if begun is None:
            raise NotAllowed(401, wrong)
        desk.tries.forget(address, name)
        if (before := gate.session(request)) is not None:  # this browser has one session
            end_session(file, before.id)
        secret, session = begun
        reply = JsonReply(_described(session))
        gate.set_cookie(reply, secret)
        return reply

    async def log_out(request: Request, session: DeskSession) -> Response:
        end_session(file, session.id)
        reply = JsonReply({"words": "Logged out."})
        gate.delete_cookie(reply)
        return reply

    async def me(request: Request, session: DeskSession) -> Response:
        return JsonReply(_described(session))

    async def sessions(request: Request, session: DeskSession) -> Response:
        rows = [{**_described(one), "is_this": one.id == session.id} for one in open_sessions(file)]
        return JsonReply({"sessions": rows})

    async def end(request: Request, session: DeskSession) -> Response:
        return _gone(end_session(file, request.path_params["id"]), "session", "Ended.")

    async def list_accounts(request: Request, session: DeskSession) -> Response:
        roles = [{"role": role, "scopes": sorted(ROLE_SCOPES[role])} for role in ROLES]
        return JsonReply({"accounts": [_account(desk, one) for one in accounts(file)], "roles": roles})

    async def add(request: Request, session: DeskSession) -> Response:
        body = await read_object(request)
        name, role, password = (_text(body, key) for key in ("name", "role", "password"))
        studies = desk.identities(body.get("studies"))
        return JsonReply(_account(desk, await asyncio.to_thread(add_account, file, name, role, password, studies)))

    async def remove(request: Request, session: DeskSession) -> Response:
        return _gone(remove_account(file, request.path_params["name"]), "account", "Removed, with its sessions.")

    async def list_tokens(request: Request, session: DeskSession) -> Response:
        scopes = [{"scope": scope, "means": SCOPE_MEANS[scope]} for scope in TOKEN_SCOPES]
        return JsonReply({"tokens": [one.to_json() for one in open_tokens(file)], "scopes": scopes})

    async def add_token(request: Request, session: DeskSession) -> Response:
        body = await read_object(request)
        secret, token = make_token(
            file, label=_text(body, "name"), scopes=_texts(body, "scopes"), until=_text(body, "until"),
            made_by=session.viewer.name, studies=desk.identities(body.get("studies")),
        )  # fmt: skip
        return JsonReply({**token.to_json(), "token": secret})

    async def drop_token(request: Request, session: DeskSession) -> Response:
        return _gone(revoke_token(file, request.path_params["id"]), "token", "Revoked.")

    async def list_shares(request: Request, session: DeskSession) -> Response:
        study, _ = await desk.study(request, session)
        shares = [one.to_json() for one in open_shares(file, study.identity)]
        return JsonReply({"shares": shares, "scopes": shareable()})

    async def add_share(request: Request, session: DeskSession) -> Response:
        study, _ = await desk.study(request, session)
        body = await read_object(request)
        secret, share = make_share(
            file, study=study.key, identity=study.identity, label=_text(body, "name"), scopes=_texts(body, "scopes"),
            until=_text(body, "until"), made_by=session.viewer.name, stays_blinded=body.get("stays_blinded") is True,
        )  # fmt: skip
        base = gate.public_url.rstrip("/") or f"http://{request.headers['host']}"
        return JsonReply({**share.to_json(), "link": share_link(base, secret)})

    async def drop_share(request: Request, session: DeskSession) -> Response:
        study, _ = await desk.study(request, session)
        is_gone = revoke_share(file, request.path_params["id"], study.identity)
        return _gone(is_gone, "share", "Revoked, with every session that began by it.")

    shares = "/api/studies/{key}/shares"
    return [
        DeskRoute("/api/login", log_in, operations.LOG_IN),
        desk.route("/api/logout", log_out, operations.LOG_OUT),
        desk.route("/api/me", me, operations.ME),
        desk.route("/api/sessions", sessions, operations.SESSIONS),
        desk.route("/api/sessions/{id}", end, operations.END_SESSION),
        desk.route("/api/accounts", list_accounts, operations.ACCOUNTS),
        desk.route("/api/accounts", add, operations.ADD_ACCOUNT),
        desk.route("/api/accounts/{name}", remove, operations.REMOVE_ACCOUNT),
        desk.route("/api/tokens", list_tokens, operations.TOKENS),
        desk.route("/api/tokens", add_token, operations.ADD_TOKEN),
        desk.route("/api/tokens/{id}", drop_token, operations.REVOKE_TOKEN),
        desk.route(shares, list_shares, operations.SHARES),
        desk.route(shares, add_share, operations.ADD_SHARE),
        desk.route(f"{shares}/{{id}}", drop_share, operations.REVOKE_SHARE),
    ]


def share_link(address: str, secret: str) -> str:
    """Return the link of a share. What stands behind the # is sent to no server and written into no log."""
    return f"{address}/login#share={secret}"


async def _begin(desk: Desk, texts: Mapping[str, str], browser: str) -> tuple[tuple[str, DeskSession] | None, Problem]:
    """Return the session that somebody begins, or None; and what is wrong where it is None."""
    file = desk.gate.file
    if "code" in texts:
        wrong = Problem("link", "has been used, or is too old", "", "`beholder open desk` makes a new one.")
        return use_link(file, texts["code"], browser), wrong
    if "share" in texts:
        wrong = Problem("link", "has ended, or was revoked", "", "Ask for a new one where you have it from.")
        return use_share(file, texts["share"], browser), wrong
    name, password = texts.get("name", ""), texts.get("password", "")
    wrong = Problem("name or the password", "is wrong", "", "The owner of the desk can set a new password.")
    return await asyncio.to_thread(use_password, file, name, password, browser), wrong


def _described(session: DeskSession) -> dict[str, Any]:
    viewer = session.viewer
    return {
        "id": session.id, "name": viewer.name, "role": viewer.role, "scopes": sorted(viewer.scopes),
        "kind": session.kind, "begun_at": session.begun_at.isoformat(), "seen_at": session.seen_at.isoformat(),
        "ends_at": session.ends_at.isoformat(), "browser": session.browser,
    }  # fmt: skip


def _account(desk: Desk, one: Account) -> dict[str, Any]:
    studies = None if one.studies is None else [key for key in map(desk.place_of, sorted(one.studies)) if key]
    return {"name": one.name, "role": one.role, "studies": studies, "made_at": one.made_at.isoformat()}


def _gone(is_gone: bool, what: str, words: str) -> Response:
    if not is_gone:
        raise not_here(what)
    return JsonReply({"words": words})


def _text(body: Mapping[str, object], name: str) -> str:
    value = body.get(name, "")
    return value if isinstance(value, str) else ""


def _texts(body: Mapping[str, object], name: str) -> Collection[str]:
    values = body.get(name)
    return [one for one in values if isinstance(one, str)] if isinstance(values, list) else []
