"""The contract of a store as a suite that anybody can run against theirs.

    await check_store(lambda name: open_store(folder / name))

Each check is one sentence about every store; it opens stores by name, and two names are two stores.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TypeAlias

from beholder.testing import store_appends, store_claims, store_erasures, store_ledger, store_races, store_sessions
from beholder.testing.running import run_checks
from beholder.testing.store_facts import Opener

Check: TypeAlias = Callable[[Opener], Awaitable[None]]

STORE_CHECKS: Mapping[str, Check] = {
    check.__name__: check
    for check in (
        store_sessions.a_store_gives_back_the_study_that_began,
        store_sessions.a_secret_is_made_once_and_differs_between_stores,
        store_sessions.a_text_may_change_and_people_keep_their_session,
        store_sessions.a_plan_may_change_until_a_person_has_claimed_a_list,
        store_sessions.a_plan_grows_and_what_is_there_stays,
        store_sessions.runs_have_plans_people_and_counts_of_their_own,
        store_sessions.a_store_holds_one_study,
        store_sessions.the_same_visit_gets_the_same_session,
        store_claims.no_list_is_claimed_twice_by_200_at_once,
        store_claims.the_least_filled_list_goes_first,
        store_claims.an_expired_lease_opens_its_list_and_a_finished_session_keeps_it,
        store_claims.a_lease_is_renewed_and_released,
        store_claims.a_session_that_ended_early_or_was_erased_opens_its_list,
        store_claims.barred_lists_are_not_given_and_preferred_ones_go_first,
        store_claims.the_lists_that_somebody_had_are_known,
        store_claims.a_list_that_was_finished_twice_leaves_the_others_open,
        store_claims.robots_and_people_are_leased_apart,
        store_appends.a_repeated_answer_changes_nothing_and_returns_the_first_time,
        store_appends.of_many_at_once_exactly_one_is_stored,
        store_appends.all_facts_of_a_request_are_stored_or_none,
        store_appends.a_bad_request_does_not_hurt_its_neighbours,
        store_appends.everything_comes_back_as_it_was_after_reopening,
        store_appends.what_was_told_is_known_at_once_and_after_reopening,
        store_appends.a_person_brings_along_what_other_sessions_were_told,
        store_appends.rows_come_in_the_order_of_insertion,
        store_appends.any_text_is_safe_and_times_keep_their_moment,
        store_races.a_repeat_with_more_facts_stores_none_of_them,
        store_races.the_loser_of_a_race_stores_nothing,
        store_races.two_in_the_same_tick_have_one_winner,
        store_races.an_end_that_leads_and_one_that_follows_are_one_end,
        store_erasures.erasing_takes_the_facts_and_leaves_a_tombstone,
        store_erasures.nothing_is_kept_of_a_session_after_its_erasure,
        store_erasures.a_platform_id_is_nowhere_among_the_facts,
        store_erasures.counts_are_of_people,
        store_erasures.a_store_is_ready_while_it_is_open,
        store_ledger.the_ledger_numbers_its_entries_and_gives_them_back,
        store_ledger.the_same_debt_is_planned_once_and_a_batch_sent_once,
        store_ledger.of_many_who_plan_the_same_debt_at_once_one_does,
        store_ledger.one_at_a_time_may_send,
        store_ledger.who_is_who_is_known_until_it_is_erased_or_purged,
        store_ledger.of_two_people_who_come_by_one_visit_at_once_one_is_kept,
        store_ledger.a_purged_ledger_says_what_was_paid_and_not_to_whom,
    )
}
"""Every check by name, for a test of its own each."""


async def check_store(open_: Opener, *, only: Collection[str] | None = None) -> tuple[str, ...]:
    """Run the checks of every store and return their names; the first that fails raises AssertionError with it."""
    return await run_checks("store", STORE_CHECKS, open_, only)
