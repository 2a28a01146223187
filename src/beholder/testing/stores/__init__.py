"""The conformance suite of stores.

    await check_store(lambda name: open_store(folder / name))

Each check is one sentence about every store. It opens stores by name; two names are two stores.

facts     appending and reading facts
sessions  beginning a study, arriving, claiming lists
ledger    the ledger, identities, erasure and removal
servers   who leads, what servers tell of themselves, and the clock
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias, TypeVar

from beholder.testing.stores import facts, ledger, servers, sessions
from beholder.testing.stores.facts import StoreOpener as FactOpener

T = TypeVar("T")
Opener: TypeAlias = Callable[[str], AbstractAsyncContextManager[T]]


async def run_checks(
    what: str,
    checks: Mapping[str, Callable[[Opener[T]], Awaitable[None]]],
    open_: Opener[T],
    only: Collection[str] | None,
) -> tuple[str, ...]:
    """Run the checks of a `what` and return their names; raise AssertionError with the first that fails."""
    names = tuple(name for name in checks if only is None or name in only)
    for name in names:
        try:
            await checks[name](_opener_for(name, open_))
        except AssertionError as failure:
            raise AssertionError(f"not true of this {what}: {name.replace('_', ' ')}. {failure}") from failure
    return names


def _opener_for(check: str, open_: Opener[T]) -> Opener[T]:
    """Return an opener for one check: the same name in two checks opens different things."""
    return lambda name: open_(f"{check}_{name}")


_StoreCheck: TypeAlias = Callable[[FactOpener], Awaitable[None]]

STORE_CHECKS: Mapping[str, _StoreCheck] = {
    check.__name__: check
    for check in (
        sessions.a_store_gives_back_the_study_that_began,
        sessions.a_secret_is_made_once_and_differs_between_stores,
        sessions.a_text_may_change_and_people_keep_their_session,
        sessions.a_plan_may_change_until_a_person_has_claimed_a_list,
        sessions.a_plan_grows_and_what_is_there_stays,
        sessions.lists_are_added_whole_once_and_for_one_population,
        sessions.runs_have_plans_people_and_counts_of_their_own,
        sessions.a_store_holds_one_study,
        sessions.the_same_visit_gets_the_same_session,
        sessions.no_list_is_claimed_twice_by_200_at_once,
        sessions.the_least_filled_list_goes_first,
        sessions.an_expired_lease_opens_its_list_and_a_finished_session_keeps_it,
        sessions.a_lease_is_renewed_and_released,
        sessions.a_session_that_ended_early_or_was_erased_opens_its_list,
        sessions.barred_lists_are_not_given_and_preferred_ones_go_first,
        sessions.the_lists_that_somebody_had_are_known,
        sessions.a_list_that_was_finished_twice_leaves_the_others_open,
        sessions.robots_and_people_are_leased_apart,
        sessions.claims_follow_their_rule_whatever_happened_before,
        facts.a_repeated_answer_changes_nothing_and_returns_the_first_time,
        facts.of_many_at_once_exactly_one_is_stored,
        facts.all_facts_of_a_request_are_stored_or_none,
        facts.a_bad_request_does_not_hurt_its_neighbours,
        facts.everything_comes_back_as_it_was_after_reopening,
        facts.what_was_told_is_known_at_once_and_after_reopening,
        facts.a_person_brings_along_what_other_sessions_were_told,
        facts.rows_come_in_the_order_of_insertion,
        facts.any_text_is_safe_and_times_keep_their_moment,
        facts.a_repeat_with_more_facts_stores_none_of_them,
        facts.the_loser_of_a_race_stores_nothing,
        facts.two_in_the_same_tick_have_one_winner,
        facts.an_end_that_leads_and_one_that_follows_are_one_end,
        ledger.erasing_takes_the_facts_and_leaves_a_tombstone,
        ledger.nothing_is_kept_of_a_session_after_its_erasure,
        ledger.whoever_only_arrived_is_removed_and_still_counted,
        ledger.whoever_answers_while_visits_are_removed_is_whole_or_gone,
        ledger.a_platform_id_is_nowhere_among_the_facts,
        ledger.counts_are_of_people,
        ledger.a_store_is_ready_while_it_is_open,
        ledger.the_ledger_numbers_its_entries_and_gives_them_back,
        ledger.the_same_debt_is_planned_once_and_a_batch_sent_once,
        ledger.of_many_who_plan_the_same_debt_at_once_one_does,
        ledger.one_at_a_time_may_send,
        ledger.who_is_who_is_known_until_it_is_erased_or_purged,
        ledger.of_two_people_who_come_by_one_visit_at_once_one_is_kept,
        ledger.a_purged_ledger_says_what_was_paid_and_not_to_whom,
        servers.one_server_leads_a_task_and_the_next_one_when_it_goes,
        servers.what_servers_tell_of_themselves_is_known_until_they_go,
    )
}
"""Every check by name."""


async def check_store(open_: FactOpener, *, only: Collection[str] | None = None) -> tuple[str, ...]:
    """Run the checks and return their names; raise AssertionError with the first that fails."""
    return await run_checks("store", STORE_CHECKS, open_, only)
