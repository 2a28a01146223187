"""Somebody with stimuli of their own opens their link in a real browser: they see theirs, and others do not."""

from __future__ import annotations

import json
from pathlib import Path

from beholder.server.tokens import invitation
from support.bound_studies import write_bound
from support.browser import MARKS, Site, StudyServers, barriers

pytestmark = MARKS


async def test_a_personal_link_shows_what_is_ones_own_and_tells_nobodys_name(
    servers: StudyServers, tmp_path: Path
) -> None:
    path = write_bound(
        tmp_path / "own", {"face-21": "ann"}, design={"own": {"place": "first"}}, playback={"watch": "none"}
    )
    site = Site(path, servers.browser)
    servers.sites.append(site)
    await site.start()
    link = f"?invited={invitation(site.server.store.secret, 'ann')}"
    ann, carl = await site.visit(link), await site.visit("")
    replies: list[str] = []
    for visit, is_theirs in ((ann, True), (carl, False)):
        page = visit.page
        page.on("response", lambda reply: replies.append(reply.url))
        await visit.go("trial:1")
        await page.click("#play")
        await page.wait_for_selector("text=The text of face-")
        shown = await page.locator("main").inner_text()
        assert ("The text of face-21," in shown) is is_theirs
        document = await page.content()
        state = await page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")
        for told in ("ann", "carl", "relation", "person"):
            assert f'"{told}"' not in document + json.dumps(state) + "".join(replies)
    assert await barriers(ann.page, "one's own") == []
    await ann.page.reload()  # and comes back to it
    await ann.page.wait_for_selector("text=The text of face-21,", state="attached")
    stranger = await site.visit("?participant=ann", expects_trouble=True)
    assert "Please open it with the link that you were given" in await stranger.page.locator("main").inner_text()
    rows = {row["session"]: row["list"] for row in await site.rows("claims")}
    assert sorted(rows.values()) == [1, 6]
