"""Viewers: what each role may."""

from __future__ import annotations

from beholder.desk.viewer import READS, SCOPE_MEANS, SCOPES, viewer_of


def test_owners_may_everything_deciders_act_and_viewers_look() -> None:
    owner, decider, viewer = (viewer_of("Ada", role) for role in ("owner", "decider", "viewer"))
    assert owner.scopes == set(SCOPES) == set(SCOPE_MEANS)
    assert decider.scopes == {*READS, "moderate", "decide", "pay"}
    assert viewer.scopes == set(READS)
    assert not viewer.may("pay")
    assert viewer.blinded
    assert not viewer.seeing(blinded=False).blinded
