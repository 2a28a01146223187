"""The record of a launch: the launched posting and the promised amounts count, whatever study.yaml says later."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from beholder.recruiting.closure import close_study
from support.payable_study import connect, payment_setup
from support.recruit_context import launch_setup


async def test_a_study_that_was_by_link_before_goes_to_a_platform(folder: Path, tiny: Path) -> None:
    async with launch_setup(folder, tiny, recruit={"mode": "link"}) as setup:
        await setup.launch()
        study = setup.study.model_copy(update={"recruit": setup.study.recruit.model_copy(update={"mode": "prolific"})})
        assert (await close_study(connect(study, setup.context.store, setup.fake))).is_closed, (
            "nothing was put up there"
        )


async def test_everybody_gets_what_was_promised_although_the_study_says_otherwise_now(folder: Path) -> None:
    async with payment_setup(folder, 3, recruit={"screen_out": "0.30 GBP"}) as s:
        changed = s.study.recruit.model_copy(update={"reward": "5.00 GBP", "screen_out": None})
        study = s.study.model_copy(update={"recruit": changed})
        later = replace(s, context=connect(study, s.context.store, s.fake))
        s.visits[1].return_place()
        await s.sign(s0="approve", s1="bonus", s2="screen_out")
        payment = await later.pay(send=True)
        assert [s.got(one) for one in s.ids] == [[("reward", 200)], [("bonus", 200)], [("bonus", 30)]]
        assert str(payment.total("paid")) == "4.30 GBP"
        assert payment.notes == (
            "recruit.reward is 5.00 GBP, and 2.00 GBP was launched: people get what was launched.",
            "recruit.screen_out is left out, and 0.30 GBP was launched: people get what was launched.",
        )
        await later.context.recruiter.close()
