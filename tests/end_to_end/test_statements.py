"""What the docs say is refused, accepted or a default is so: every such sentence has a test, or is tried here.

A sentence that is changed fails here, and so does a new one that nobody has tied to a test. The tables of keys are
tried row by row in tests/unit/study/test_allowed_values.py, the pages that `make docs` writes are held by test_docs.py.
"""

from __future__ import annotations

import ast
import inspect
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from beholder.analysis.ratings_table import load_ratings
from beholder.analysis.sides import read_side
from beholder.checks.contract import SessionRule
from beholder.checks.page_contract import PageCheck
from beholder.checks.registry import rules
from beholder.exporting.ratings import MOST_CELLS
from beholder.methods import find, load_study, names
from beholder.objective.contract import PairMetric
from beholder.sample_size.request import SHARE
from beholder.server.entrances import entrance_of
from beholder.simulation.variance import PopulationSource, read_source
from beholder.stats.runs import EQUIVALENCE_MARGIN
from beholder.stimuli.streams import MEASURE_LEVELS
from beholder.study.backup import Backup
from beholder.study.deployment import Deploy
from beholder.study.design import Training
from beholder.study.markdown import markdown, plain_text
from beholder.study.media import MediaHosting
from beholder.study.model import Playback, Study
from documentation.mistakes import MISTAKES, STUDY, Mistake, answer
from support.data import ROOT

CLAIM = re.compile(
    r"\b(refus(?:e|es|ed)|accepts|accepted|allowed|defaults?|(?:is|are) (?:an )?errors?|may not|must not|left out|"
    r"unless you|warns|an? warning|turned away|ignored|exit code \d)\b",
    re.IGNORECASE,
)
"""Words by which a sentence says that something is refused, warned of, accepted or a default."""
NOT_RULES = {
    "mistakes.md", "papers.md", "benchmarks.md", "licences.md", "architecture.md", "index.md", "p910-parser.md",
    "statistics.md",
}  # fmt: skip
"""Pages that are made, or tell of results, of other programs or of the code."""


class Said(NamedTuple):
    """A statement: its page, words of its sentence, and what holds it."""

    page: str
    words: str
    holder: str | Mistake | Callable[[], bool]
    """A test, as `unit/planning/test_blocks.py::test_x`; the name of a mistake whose message docs/mistakes.md shows; a
    mistake that is made here; or a look at the program."""
    told: str = ""
    """A part of the message, of a mistake that is made here."""


def study_of(text: str = STUDY) -> Study:
    """Return a study, whose stimuli need not exist."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.yaml"
        path.write_text(text, "utf-8")
        return load_study(path)


def table_of(text: str, read: Callable[[Path], object]) -> object:
    """Return what is read of a table with this text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_text(text, "utf-8")
        return read(path)


def _is_off(source: PopulationSource) -> bool:
    """Whether nothing is planted that public data do not show."""
    return not any(
        getattr(source.people, name) for name in ("carry", "fatigue", "lapse", "gain_spread", "ends", "leaving")
    )


SAID = (
    Said("chains.md", "Where votes were left out it [extends]",
         "end_to_end/test_unattended.py::test_what_was_left_out_is_asked_again_as_far_as_the_budget_goes"),
    Said("chains.md", "approves and pays every accepted participant",
         "unit/recruiting/test_proposals.py::test_each_case_of_a_platform_has_its_row_with_reasons"),
    Said("chains.md", "A study with a manifest names its files one by one and is refused",
         Mistake("", "run --simulate --stimuli stimuli", "stimuli: stimuli", "stimuli: {manifest: m.csv}",
                 {"m.csv": "file,content,condition\n"}), "manifest"),
    Said("chains.md", "A `--folder` that holds another run is refused",
         "unit/workflow/test_run_folder.py::test_a_folder_can_be_named_and_is_never_shared_by_other_stimuli"),
    Said("chains.md", "1 and 2 are errors, as ever",
         "unit/cli/test_analysis.py::test_better_refuses_what_it_cannot_answer"),
    Said("commands.md", "where STUDY is `study.yaml` in this folder when left out",
         "unit/cli/test_command.py::test_with_json_a_missing_study_is_a_document_too"),
    Said("commands.md", "where something is to be fixed, also in the command line itself",
         "unit/cli/test_command.py::test_with_json_an_error_is_one_document_on_stdout"),
    Said("commands.md", "and leaves when that is refused",
         "end_to_end/test_zoo.py::test_the_server_takes_nothing_that_it_should_refuse"),
    Said("comparing.md", "needed; rows where it is empty are left out",
         lambda: table_of("condition,mean\na,3\nb,\nc,4\n",
                          lambda path: list(read_side(path).conditions["condition"])) == ["a", "c"]),
    Said("comparing.md", "a file of yours that has one of their names is refused, not written over",
         "unit/reporting/test_result_page.py::test_a_file_of_others_in_the_way_is_refused_before_anything_is_written"),
    Said("comparing.md", "(5 % of the scale when left out)", lambda: EQUIVALENCE_MARGIN == 0.05),
    Said("data.md", "a database trigger refuses anything else",
         "unit/store/sqlite/test_study.py::test_facts_are_append_only"),
    Said("data.md", "anything else is refused",
         "unit/analysis/test_rating_values.py::test_what_is_no_rating_is_refused"),
    Said("data.md", "An empty value is a missing one; an empty name is an error",
         "unit/analysis/test_ratings_table.py::"
         "test_ratings_without_a_name_and_values_that_cannot_be_are_all_told"),
    Said("data.md", "its name; `condition/content` when left out",
         lambda: table_of("participant,content,condition,value\np,c,a,3\n",
                          lambda path: list(load_ratings(path)["stimulus"])) == ["a/c"]),
    Said("data.md", "the report is refused until you run it again",
         "unit/reporting/test_material.py::test_results_of_other_ratings_than_those_in_clean_are_refused"),
    Said("data.md", "What people wrote in their own words is left out of every table",
         "unit/exporting/test_source.py::test_neither_free_text_nor_anything_that_leads_to_a_person_is_in_it"),
    Said("data.md", "a folder that holds other things and no export is refused",
         "unit/exporting/test_folder.py::test_a_folder_that_is_something_else_is_not_overwritten"),
    Said("data.md", "The matrix is left out above five million cells", lambda: MOST_CELLS == 5_000_000),
    Said("data.md", "No value outside the scale is ever averaged",
         Mistake("", "analyse r.csv --scale 1..5",
                 files={"r.csv": "subject,system,score\na,x,3\na,y,4\nb,x,2\nb,y,8\n"}), "8"),
    Said("deciding.md", "Where it is gone, `decide` refuses",
         "unit/recruiting/test_decisions.py::test_a_list_is_named_once_and_read_again_from_where_it_is"),
    Said("deciding.md", "`bonus` once the platform has refused that",
         "unit/recruiting/test_debts.py::test_who_ran_out_of_time_is_approved_or_gets_the_reward_as_a_bonus"),
    Said("deciding.md", "`decide` refuses it",
         "unit/recruiting/test_decisions_file.py::test_gold_and_the_other_rules_about_data_are_no_ground_for_a_rejection"),
    Said("deploying.md", "`public` (when left out)", lambda: Deploy.model_fields["tls"].default == "public"),
    Said("deploying.md", "Who may not listen on ports 80 and 443 is told so before anything is done",
         "unit/deployment/test_inspection.py::test_what_is_wrong_with_a_machine_is_told"),
    Said("deploying.md", "`down` refuses while somebody waits for a decision or for money",
         "end_to_end/test_deploy.py::test_a_study_goes_online_and_its_answers_come_home"),
    Said("deploying.md", "A change of the plan is refused once people have come, and the version before is served on",
         "end_to_end/test_deploy.py::test_a_study_goes_online_and_its_answers_come_home"),
    Said("dimensions.md", "what takes them is left out, and said",
         "unit/dimensionality/test_folder.py::test_odd_ratings_give_notes_and_no_infinite_number"),
    Said("dimensions.md", "Left out, it is the one of `--split`",
         "unit/dimensionality/test_folder.py::"
         "test_the_question_against_which_others_are_held_is_that_of_the_split_or_the_most_typical"),
    Said("extending.md", "lists **made of** the single votes that were left out elsewhere",
         "unit/extension/test_shortfall.py::test_single_votes_that_were_lost_come_again_and_nothing_else"),
    Said("extending.md", "`beholder serve` refuses a study that has changed since people came",
         "end_to_end/test_verbs.py::test_texts_may_change_after_somebody_has_started_but_the_design_may_not"),
    Said("extending.md", "that is named and refused",
         "unit/extension/test_folder.py::test_a_stimulus_that_went_or_changed_is_refused"),
    Said("metrics.md", "then what it lacks is left out, and asking for it by name says so",
         "unit/objective/test_registry.py::test_what_is_not_installed_is_said_with_how_to_get_it"),
    Said("metrics.md", "says whose it is, all of them when left out",
         "unit/objective/test_regions.py::test_a_region_without_a_stimulus_or_a_content_is_of_all"),
    Said("paying.md", "An approval that Prolific refuses, as for lack of money, stays owed and is tried again",
         "unit/recruiting/test_transfers.py::"
         "test_an_approval_that_is_refused_is_told_and_tried_again_and_never_becomes_a_bonus"),
    Said("plan.md", "A design that cannot be is refused with the numbers that clash and with numbers that work",
         Mistake("", "check", "trials: 2}", "trials: 9, contents: once}"),
         "design.trials is 9, but there are 2 contents and each may come once. Allowed: 1 to 2."),
    Said("plan.md", "the rows about order are then left out",
         "unit/planning/test_balance.py::test_where_one_of_a_pair_is_always_first_nothing_is_told_of_order"),
    Said("plan.md", "Such a design is refused with the parts, and with a pair or a file that would join them",
         "unit/planning/test_feasibility.py::test_parts_that_a_table_leaves_are_told_with_the_line_that_joins_them"),
    Said("plan.md", "A rule that you write and that has no room is an error that says how many fit, or that none does",
         "a check that has no room"),
    Said("plan.md", "what only a preset asks for is left out",
         "unit/planning/test_check_counts.py::test_what_a_preset_wants_is_left_out_where_it_does_not_fit"),
    Said("plan.md", "numbers that are left out, several contents in one trial",
         "unit/planning/test_given_plan.py::test_numbers_that_are_left_out_are_told"),
    Said("plan.md", "Sessions are short by default",
         "unit/planning/test_capacity.py::test_without_trials_a_session_takes_no_more_than_twelve_minutes"),
    Said("plan.md", "Sessions that do not fit are refused with the nearest that do", "sessions that do not fit"),
    Said("plan.md", "`recruit.time_limit` (60 minutes when left out)",
         lambda: entrance_of(study_of(), b"").lease.total_seconds() == 3600),
    Said("plan.md", "anything that would change it is refused with advice",
         "end_to_end/test_verbs.py::test_texts_may_change_after_somebody_has_started_but_the_design_may_not"),
    Said("plan.md", "| may not | `method`, `options`",
         "unit/planning/test_digest.py::test_what_the_docs_say_may_change_changes_no_plan_and_the_rest_does"),
    Said("power.md", "5 % of the scale when left out", lambda: SHARE == 0.05),
    Said("power.md", "When left out it is as `analyse.claim` has it",
         "unit/sample_size/test_folder.py::test_contents_are_as_the_claim_of_the_study_has_them"),
    Said("power.md", "without either it is left out",
         "unit/sample_size/test_sample_size.py::test_the_command_prints_the_table_and_the_advice"),
    Said("privacy.md", "until then `purge` refuses",
         "unit/recruiting/test_erasure.py::test_nobody_is_made_unknown_who_is_still_owed_money"),
    Said("privacy.md", "`launch` refuses to open anything here",
         "unit/recruiting/test_preflight.py::test_after_a_purge_of_who_is_who_nobody_is_let_in_for_money"),
    Said("prolific.md", "by Prolific's formula, 2 + 2t + 2√t minutes, when left out, and never less",
         "unit/server/test_entrances.py::test_a_lease_on_prolific_outlives_the_platforms_own_time_limit"),
    Said("prolific.md", "Other [runs](runs.md) of the study itself are left out without a word",
         "unit/recruiting/prolific/test_draft.py::test_a_draft_says_everything_that_prolific_should_know"),
    Said("prolific.md", "the project; the only one there is when left out",
         "unit/recruiting/prolific/test_money.py::test_a_project_that_is_not_there_is_told_with_those_that_are"),
    Said("prolific.md", "one whose answer was lost is never sent again unless you say so",
         "unit/recruiting/test_transfers.py::test_a_payment_that_only_some_have_got_is_never_sent_again"),
    Said("prolific.md", "`--public-url` can be left out with `beholder serve` as it is",
         "unit/recruiting/test_launches.py::test_a_launch_quotes_and_puts_up_a_draft_that_nobody_sees"),
    Said("python.md", "All take the path of a study file, `study.yaml` when left out",
         "end_to_end/test_verbs.py::test_every_verb_can_be_called_twice"),
    Said("qualification.md", "Without `tolerance` a quarter of the scale is allowed",
         "unit/planning/test_known_answers.py::test_a_quarter_of_the_scale_is_near_enough"),
    Said("qualification.md", "Messages and anchors may change while a study runs, expectations may not",
         "unit/planning/test_training.py::test_words_of_the_training_may_change_and_expectations_may_not"),
    Said("qualification.md", "`training.corrections` times (3)",
         lambda: Training.model_fields["corrections"].default == 3),
    Said("quick-start.md", "All problems of the file are listed at once, with the line, what is allowed",
         "people and votes"),
    Said("recruiting.md", "the same N changes nothing; fewer is refused",
         "unit/recruiting/test_launches.py::test_more_places_cost_the_difference_and_only_grow"),
    Said("recruiting.md", "or at our estimate where that is left out",
         "unit/recruiting/test_launches.py::test_everything_that_is_wrong_is_told_at_once"),
    Said("recruiting.md", "- places that may cost more than `budget`",
         "unit/recruiting/test_preflight.py::test_the_budget_is_one_cap_over_all_runs"),
    Said("recruiting.md", "everything for which the platform would refuse the draft",
         "unit/recruiting/test_launches.py::test_everything_that_is_wrong_is_told_at_once"),
    Said("recruiting.md", "An amount that is no longer right is refused, and the message names the right one",
         "unit/recruiting/test_launches.py::test_only_the_quoted_amount_publishes"),
    Said("recruiting.md", "within `recruit.time_limit` (an hour when left out)",
         lambda: entrance_of(study_of(), b"").lease.total_seconds() == 3600),
    Said("rehearsing.md", "An answer that is not required is left out by one in five",
         "unit/study/test_questionnaire.py::"
         "test_simulated_people_write_what_a_text_asks_for_and_leave_out_what_they_may"),
    Said("rehearsing.md", "It refuses what Prolific refuses",
         "unit/recruiting/fake/test_studies.py::test_places_only_grow_and_most_fields_freeze"),
    Said("rehearsing.md", "They are off unless you set them", lambda: _is_off(read_source("public"))),
    Said("rehearsing.md", "**`public` is the default**", lambda: read_source(None) == read_source("public")),
    Said("runs.md", "is allowed: that run goes on where it was, and turns away the people of run 2",
         "end_to_end/test_runs.py::test_who_took_part_before_is_turned_away_kindly"),
    Said("runs.md", "What changes the plan is refused within a run once somebody has claimed a list",
         "end_to_end/test_verbs.py::test_texts_may_change_after_somebody_has_started_but_the_design_may_not"),
    Said("separate-stage.md", "Every other method is refused, because its stimuli stand beside the answers",
         "end_to_end/test_separate_stage.py::test_a_method_whose_stimuli_stand_beside_the_answers_is_refused"),
    Said("separate-stage.md", "would look at the wrong one, and are refused with a separate stage",
         "end_to_end/test_separate_stage.py::test_checks_of_the_device_that_does_not_show_are_refused_each_by_its_key"),
    Said("serving.md", "`recruit.time_limit` (60 minutes when left out) gives its list back",
         lambda: entrance_of(study_of(), b"").lease.total_seconds() == 3600),
    Said("serving.md", "are ignored and not refused",
         "end_to_end/test_addresses.py::test_a_foreign_host_is_ignored_and_not_refused"),
    Said("serving.md", "The store is a folder with SQLite by default",
         "end_to_end/test_verbs.py::test_every_verb_can_be_called_twice"),
    Said("serving.md", "for as long as one session may take (`recruit.time_limit`, an hour when left out)",
         "unit/server/test_presence.py::test_the_time_limit_of_a_session_bounds_the_waiting"),
    Said("serving.md", "A request with a forged, foreign or replayed token",
         "end_to_end/test_http.py::test_a_forged_or_foreign_token_is_refused"),
    Said("stimuli.md", "a pattern that takes longer than half a second on a name is refused",
         "unit/stimuli/test_sources.py::test_a_pattern_without_an_end_is_a_problem"),
    Said("stimuli.md", "a link that leads out of it is refused",
         "unit/stimuli/test_sources.py::test_a_link_out_of_the_study_folder_is_refused_wherever_it_is"),
    Said("stimuli.md", "in such a study an open link with `?participant=` is refused",
         "unit/server/test_bound_lists.py::test_a_name_that_anybody_can_write_lets_in_nobody_and_tells_of_nobody"),
    Said("stimuli.md", "nothing shows who comes, and `for` is an error",
         "unit/planning/test_own_stimuli.py::test_what_does_not_fit_is_told_all_at_once"),
    Said("stimuli.md", "and `check` warns where one contains a name",
         "unit/stimuli/test_relations.py::test_names_that_results_would_tell_are_warned_of"),
    Said("stimuli.md", "conditions that it does not list are left out, with a warning",
         "unit/stimuli/test_ingestion.py::test_listed_conditions_restrict_and_misspelt_ones_are_problems"),
    Said("stimuli.md", "a text in a folder of videos, sounds or pictures, and files of an unknown kind",
         "unit/stimuli/test_sources.py::test_a_note_among_videos_is_left_out_with_a_warning"),
    Said("stimuli.md", "the line that accepts the difference where it is the point of the study",
         "unit/stimuli/test_warnings.py::test_frame_rates_that_differ_are_warned_of_and_easily_accepted"),
    Said("stimuli.md", "Lengths more than half a second apart are refused unless you add `--shortest`",
         "unit/stimuli/workshop/test_stacks.py::"
         "test_lengths_are_cut_to_the_shorter_told_and_beyond_half_a_second_refused"),
    Said("stimuli.md", "what would not be worse (180 lines of a clip that has 180) is refused",
         "unit/stimuli/workshop/test_anchors.py::test_what_cannot_be_made_an_anchor_is_told_at_once"),
    Said("stimuli.md", "HDR is refused",
         "unit/stimuli/workshop/test_preparation.py::test_hdr_and_broken_files_are_named_and_the_others_made"),
    Said("stimuli.md", "Titles, dates, chapters and names of encoders are left out",
         "unit/stimuli/test_copies.py::test_served_copies_keep_the_pictures_and_no_trace_of_their_origin"),
    Said("stimuli.md", "the largest size, rates and number of channels among them unless you say others",
         "unit/stimuli/test_layout.py::test_uniform_takes_the_largest_size_and_rate_of_a_content"),
    Said("stimuli.md", "Clips shorter than a second are refused",
         "unit/stimuli/workshop/test_messages.py::test_all_that_is_wrong_is_told_at_once"),
    Said("stimuli.md", "A video without sound is refused",
         "unit/stimuli/workshop/test_messages.py::test_all_that_is_wrong_is_told_at_once"),
    Said("stimuli.md", "When targets are drawn for a voice, those are left out",
         "unit/planning/test_message_trials.py::test_numbers_that_sound_alike_are_not_said"),
    Said("stimuli.md", "a file that is not what its suffix says", "a picture that is none"),
    Said("stimuli.md", "stimuli of more than one medium", "a picture that is none"),
    Said("stimuli.md", "a sound starts more than 0.2 s later than another (below -50 dB)",
         lambda: "-50dB" in MEASURE_LEVELS[1]),
    Said("study-file.md", "Unknown keys", "a key that there is not"),
    Said("study-file.md", "keys that come twice", "the same key twice"),
    Said("study-file.md", "paths that lead out of the study's folder are errors", "a path out of the folder"),
    Said("study-file.md", "only `true` and `false` are booleans", "yes for true"),
    Said("study-file.md", "items, their options and whatever else the plan depends on may not",
         "unit/planning/test_digest.py::test_what_the_docs_say_may_change_changes_no_plan_and_the_rest_does"),
    Said("study-file.md", "What a method fills in stands below what you write, and above the defaults in the tables",
         "unit/study/test_loading.py::test_defaults_of_the_method_lie_beneath_what_was_written"),
    Said("study-file.md", "A text that is left out is replaced by a plain one of ours",
         "unit/study/test_loading.py::test_the_shortest_study_is_filled_with_defaults"),
    Said("study-file.md", "A text has been read after so long in view", lambda: Playback().words_per_second == 10),
    Said("study-file.md", "Version of this format", Mistake("", "check", "beholder: 1", "beholder: 2"), "Allowed: 1."),
    Said("mistakes.md", "all problems come at once, with exit code 2 and never with a traceback", "people and votes"),
    Said("troubleshooting.md", "where it is, what is wrong, what is allowed, and how to fix it", "people and votes"),
    Said("troubleshooting.md", "YAML 1.2 knows only `true` and `false`", "yes for true"),
    Said("troubleshooting.md", "`design.participants is …. Allowed: a whole number, 1 to 100,000`",
         "a number out of range"),
    Said("troubleshooting.md", "Allowed, but the plan cannot be even everywhere",
         "unit/stimuli/test_warnings.py::test_a_missing_clip_is_named_and_a_misspelt_one_found"),
    Said("troubleshooting.md", "Texts may change, the design may not",
         "end_to_end/test_verbs.py::test_texts_may_change_after_somebody_has_started_but_the_design_may_not"),
    Said("trust.md", "learns nothing; `clean` decides. The default",
         lambda: _rules_that_flag() == {"flag"}),
    Said("trust.md", "are left out (`outliers:far`), once; choices never",
         "unit/cleaning/test_screening.py::test_outlying_votes_are_left_out_once_and_only_when_asked_for"),
    Said("trust.md", "`quantity` pays an amount for each accepted session",
         "unit/cleaning/test_payouts.py::test_those_who_stayed_get_an_amount_for_each_accepted_session"),
    Said("trust.md", "`best` in a hundred of those who have enough accepted sessions",
         "unit/cleaning/test_payouts.py::test_nobody_gets_a_bonus_for_quality_who_agrees_too_little"),
    Said("trust.md", "So by default it catches the careless",
         "unit/checks/test_automation.py::"
         "test_it_is_only_noted_unless_a_study_says_otherwise_and_says_what_it_asks"),
    Said("trust.md", "Nobody is left out: who was found",
         "unit/checks/test_ballots.py::test_what_is_planted_is_noted_with_its_numbers_and_costs_nothing"),
    Said("trust.md", "they are left out, with that reason",
         "unit/checks/test_ballots.py::test_with_flag_those_who_are_found_are_not_used"),
    Said("trust.md", "send what a server has to refuse",
         "end_to_end/test_zoo.py::test_the_server_takes_nothing_that_it_should_refuse"),
    Said("trust.md", "refuses an answer to what was not played",
         "end_to_end/test_attacks.py::test_a_person_cannot_watch_everything_in_no_time"),
    Said("writing-a-check-with-a-page.md", "after ours when left out", lambda: "order" in dir(PageCheck)),
    Said("writing-a-check-with-a-page.md", "`person` or `device` (the default)", lambda: PageCheck.scope == "device"),
    Said("writing-a-check-with-a-page.md", "for an answer that the page does not send",
         "contracts/test_third_party_checks.py::test_it_refuses_an_answer_in_words_of_its_own_in_every_language"),
    Said("writing-a-check-with-a-page.md", "`refused.<what>`",
         "unit/checks/test_page_contract.py::"
         "test_a_refusal_has_the_words_of_the_check_or_its_parents_or_ours_or_is_the_text"),
    Said("writing-a-method.md", "so that it is frozen and refuses unknown keys",
         "unit/study/test_parts.py::test_a_part_refuses_unknown_keys_and_numbers_that_are_not_finite"),
    Said("writing-a-method.md", "study keys to fill in where nothing is written",
         "unit/study/test_loading.py::test_defaults_of_the_method_lie_beneath_what_was_written"),
    Said("writing-a-method.md", "may be left out, and then a mean is a `Score (name)`",
         "unit/analysis/test_result.py::test_every_number_has_the_name_of_its_method"),
    Said("writing-a-method.md", "for the methods paragraph of the report; may be left out",
         "end_to_end/test_docs.py::test_the_worked_method_of_contributing_keeps_its_word"),
    Said("writing-a-method.md", "the server refuses an answer without them",
         "unit/methods/test_aspects.py::test_p835_asks_nothing_else_and_plays_three_times"),
    Said("writing-a-metric.md", "`pictures` (the default)", lambda: PairMetric.looks_at == "pictures"),
    Said("writing-a-metric.md", "none of them when left out", lambda: PairMetric.usual_for == frozenset()),
    Said("writing-a-metric.md", "by default each by itself",
         lambda: "one.measure(pair) for one in metrics" in inspect.getsource(PairMetric.measure_together)),
    Said("writing-a-rule.md", "no, when left out |", lambda: SessionRule.is_default is False),
    Said("writing-a-rule.md", "no, when left out, as [it has to be told]",
         lambda: SessionRule.looks_at_presses is False),
    Said("writing-a-rule.md", "nothing, when left out", lambda: "return {}" in inspect.getsource(SessionRule.account)),
    Said("writing-a-rule.md", "that options survive JSON, and thresholds can be left out",
         "end_to_end/test_docs.py::test_the_worked_rule_of_the_docs_keeps_its_word"),
    Said("writing-an-analysis.md", "from the table to an Altair chart; may be left out",
         "end_to_end/test_docs.py::test_the_worked_analysis_keeps_its_word"),
    Said("writing-an-analysis.md", "A column that is not declared, or holds something else than it says, is an error",
         "unit/analysis/test_contract.py::test_an_undeclared_column_of_a_file_is_refused"),
    # What is warned of, turned away or ignored
    Said("chains.md", "tell nobody's, and `beholder check` warns of it",
         "unit/server/test_participants.py::test_whom_nobody_can_know_again_is_told"),
    Said("commands.md", "rehearses a crowd in which some are turned away and some are not used",
         "end_to_end/test_qualification_robots.py::test_a_kind_of_rater_that_cannot_pass_a_check_is_part_of_a_mixture"),
    Said("comparing.md", "Other columns are ignored",
         lambda: table_of("condition,mean,colour\na,3,red\n",
                          lambda path: list(read_side(path).conditions["mean"])) == [3]),
    Said("data.md", "Who is turned away at a gate is paid as a screen-out and not used",
         "end_to_end/test_qualification_robots.py::test_cleaning_comes_to_the_verdicts_that_people_were_told"),
    Said("data.md", "how to read it, with a warning where it is bad",
         "unit/reporting/test_data_quality.py::test_bad_data_are_warned_of"),
    Said("deploying.md", "exit code 3 where people cannot take part",
         "end_to_end/test_deploy.py::test_a_study_goes_online_and_its_answers_come_home"),
    Said("dimensions.md", "With no more rows than questions a warning stands in the notes",
         "unit/dimensionality/test_components.py::test_more_questions_than_conditions_are_warned_of"),
    Said("paying.md", "ends the command with exit code 2, and holds up nobody else",
         "unit/recruiting/test_payments.py::test_a_budget_holds_for_lists_too"),
    Said("plan.md", "`beholder check` warns of both, of named contrasts at their line",
         "unit/planning/test_feasibility.py::test_conditions_without_a_common_content_are_told_before_anybody_comes"),
    Said("plan.md", "`check` warns and says how many trials would fit",
         "unit/planning/test_list_counts.py::test_check_warns_of_a_long_session_and_says_how_many_trials_fit"),
    Said("privacy.md", "`forget` and `purge` say what holds it up and end with exit code 2",
         "unit/recruiting/test_erasure.py::test_beside_a_reader_it_is_told_what_is_left_and_the_next_try_finishes_it"),
    Said("prolific.md", "nothing is launched, below its advice (9.00, 12.00) `launch` warns",
         "unit/recruiting/test_preflight.py::test_pay_is_judged_by_the_study_and_the_platform"),
    Said("qualification.md", "the report shows who would be turned away, where, and how long it took",
         "end_to_end/test_qualification_robots.py::"
         "test_the_account_tells_how_many_were_turned_away_where_and_how_long_it_took"),
    Said("recruiting.md", "quotes before there is a store or a server, and warns of what is still to do",
         "unit/recruiting/test_launches.py::test_a_dry_run_quotes_before_there_is_a_store_and_leaves_none"),
    Said("recruiting.md", "It warns where an hour pays less than the platform advises",
         "unit/recruiting/test_preflight.py::test_low_pay_and_an_empty_balance_are_told_before_anybody_publishes"),
    Said("rehearsing.md", "who would have been turned away or sent home rates to the end",
         "unit/simulation/test_memory.py::test_robots_answer_in_memory_as_they_do_over_http"),
    Said("runs.md", "who has claimed a list in any other run is turned away with a kind word",
         "end_to_end/test_runs.py::test_who_took_part_before_is_turned_away_kindly"),
    Said("serving.md", "Ids in `recruit.block` are turned away kindly",
         "unit/server/test_participants.py::test_a_block_list_counts_for_every_way_of_coming"),
    Said("serving.md", "`beholder check` warns where it does not, as by a plain link or in a laboratory",
         "unit/server/test_participants.py::test_whom_nobody_can_know_again_is_told"),
    Said("serving.md", "`beholder launch` also of a study whose `store/` it cannot read",
         "unit/recruiting/test_launches.py::"
         "test_single_links_are_as_many_as_places_and_whom_nobody_can_leave_out_is_told"),
    Said("serving.md", "The log warns when four of five connections are in use",
         "unit/server/test_connections.py::"
         "test_an_address_holds_its_share_of_connections_and_a_named_proxy_any_number"),
    Said("stimuli.md", "of a content | a warning with its remedy",
         "unit/stimuli/test_warnings.py::test_conditions_that_are_not_equally_loud_are_warned_of_and_the_remedy_works"),
    Said("stimuli.md", "more than 4 times as large as another, or 32 MB larger | a warning",
         "unit/stimuli/test_warnings.py::test_sizes_that_no_filler_evens_out_are_warned_of"),
    Said("stimuli.md", "Where files of one content differ more than that, `beholder check` warns",
         "unit/stimuli/test_warnings.py::test_sizes_that_no_filler_evens_out_are_warned_of"),
    Said("stimuli.md", "names of encoders inside the sound that are not the same under all conditions | a warning",
         "unit/stimuli/test_warnings.py::test_names_of_encoders_that_tell_conditions_apart_are_warned_of"),
    Said("stimuli.md", "`beholder check` warns where such names differ between conditions",
         "unit/stimuli/test_warnings.py::test_names_of_encoders_that_tell_conditions_apart_are_warned_of"),
    Said("stimuli.md", "profile and level of H.264, distance of key frames",
         "unit/stimuli/test_layout.py::test_conditions_that_are_encoded_differently_are_told_apart_and_made_alike"),
    Said("stimuli.md", "`probe` ends with exit code 2 where a file cannot be read or would not play",
         "unit/stimuli/workshop/test_probe.py::test_a_probe_is_json_for_programs"),
    Said("stimuli.md", "A filler, legal in its format and ignored by players",
         "unit/stimuli/test_blinding.py::test_a_blinded_file_decodes_to_the_same_frames_without_a_warning"),
    Said("troubleshooting.md", "what is worth a look (warning) and what has to be mended (wrong, exit code 2)",
         "unit/workflow/test_doctor.py::"
         "test_the_command_prints_a_line_for_each_part_and_ends_with_2_where_something_is_wrong"),
    Said("trust.md", "`check` warns where a study lets them cost the use",
         "unit/checks/test_registry.py::"
         "test_a_preset_for_another_sense_and_rules_over_ratings_that_cost_the_use_are_told"),
    Said("trust.md", "The pay is never touched, and nobody is turned away",
         "unit/checks/test_automation.py::"
         "test_it_is_only_noted_unless_a_study_says_otherwise_and_says_what_it_asks"),
    Said("writing-a-metric.md", "names its package and the stimulus, and `beholder metrics` ends with exit code 2",
         "unit/objective/test_registry.py::"
         "test_a_package_that_fails_is_named_and_costs_nobody_else_their_metrics"),
    Said("writing-an-analysis.md", "All others are written, and then `beholder analyse` names the package",
         "unit/analysis/test_registry.py::"
         "test_an_analysis_of_another_package_that_fails_costs_its_own_table_only"),
    Said("backups.md", "`restore` refuses a backup without a seal that fits your key",
         "unit/backups/test_seal.py::test_a_forged_backup_is_refused_unless_told"),
    Said("backups.md", "A backup without a key is refused, unless the study says why in words",
         "unit/backups/test_backup_settings.py::test_without_a_key_it_is_refused_unless_said_in_words"),
    Said("backups.md", "`beholder monitor` warns where they fail, with the reason",
         "unit/backups/test_backup_state.py::test_it_is_told_in_words_and_what_fails_is_a_warning"),
    Said("backups.md", "Where the store there holds sessions, answers or payments that the backup does not have",
         "unit/workflow/test_restore.py::"
         "test_a_store_that_holds_more_is_replaced_only_for_a_reason_in_words_and_kept"),
    Said("backups.md", "Another key, a backup that is damaged or cut off, one of another study, or none at all",
         "unit/workflow/test_restore.py::test_what_cannot_be_restored_is_told_and_changes_nothing"),
    Said("deploying.md", "`launch --publish` refuses to pay people to come to a tunnel",
         "unit/recruiting/test_launches.py::"
         "test_people_are_not_paid_to_come_to_a_laptop_unless_somebody_says_why"),
    Said("deploying.md", "with `--tls proxy` left out, and the server is at 127.0.0.1:8000",
         "unit/deployment/test_container.py::test_what_is_written_passes_linter_and_schema"),
    Said("deploying.md", "an address with a password is refused",
         "unit/deployment/test_settings.py::test_a_password_is_never_written_down"),
    Said("privacy.md", "until they are pruned (`backup.keep`, 30 days when left out)",
         lambda: Backup.model_fields["keep"].default == "30 d"),
    Said("media-bucket.md", "how many copies there are of each stimulus; 16 when left out",
         lambda: MediaHosting.model_fields["copies"].default == 16),
    Said("media-bucket.md", "how long a signed address holds; as long as a session may take when left out",
         "unit/buckets/test_signed_addresses.py::"
         "test_addresses_hold_as_long_as_a_session_unless_the_study_says_otherwise"),
    Said("media-bucket.md", "it says what to run, and it warns where everybody is allowed",
         "unit/buckets/test_signed_addresses.py::"
         "test_a_bucket_that_does_not_know_the_study_is_told_with_what_to_run"),
    Said("scaling.md", "is refused once people have claimed lists, as with one server",
         "unit/extension/test_folder.py::test_conditions_that_were_added_are_rated_beside_the_others"),
    Said("study-file.md", "`correct` does not go with it: who has begun to rate is judged by checks",
         "unit/study/test_earlier_answers.py::test_what_is_wrong_with_an_item_between_trials_is_told"),
    Said("study-file.md", "A page on which nothing is left to ask is left out",
         "unit/server/test_flow.py::"
         "test_a_page_asks_what_answers_on_earlier_pages_let_it_ask_and_is_left_out_without_any"),
    Said("study-file.md", "With images and texts, which do not play, the option is refused",
         "unit/methods/test_time_marks.py::test_what_does_not_play_cannot_be_marked"),
    Said("study-file.md", "checks, gold and practice are left out",
         "unit/server/test_crowd_results.py::"
         "test_practice_is_no_part_of_it"),
    Said("arena.md", "Without people there are no intervals, and such a table is refused",
         "unit/leaderboard/test_leaderboard.py::test_votes_of_nobody_make_no_board"),
    Said("importing-reseval.md", "an answer that the hearing test has written over",
         "unit/importing/reseval/test_responses.py::test_who_answered_every_page_is_complete_and_a_code_says_nothing"),
    Said("importing-p910.md", "year of birth, browser and address are left out",
         "unit/importing/p910/test_answer_columns.py::test_gender_is_an_answer_and_a_year_of_birth_is_left_out"),
    Said("importing-pearmut.md", "refused: errors are marked, and nothing is scored",
         "unit/importing/test_pearmut.py::test_a_line_that_is_not_json_and_a_protocol_without_scores_are_refused"),
    Said("importing-sureal.md", "anything else that computes is refused with its line",
         "unit/importing/test_sureal.py::test_what_is_more_than_a_literal_is_refused_with_its_line"),
    Said("importing-webmushra.md", "page `spatial`, and pages of forks",
         "unit/importing/webmushra/test_configuration.py::test_a_page_of_a_kind_that_nobody_knows_is_kept_under_source"),
    Said("importing.md", "a source that is refused leaves nothing behind",
         "unit/importing/test_folder.py::test_a_refused_source_leaves_nothing"),
    Said("importing.md", "A page of a kind that is not supported refuses the whole source",
         "unit/importing/webmushra/test_configuration.py::test_a_page_of_a_kind_that_nobody_knows_is_kept_under_source"),
    Said("importing.md", "or kept in the identity file of the store alone with `--keep-ids`",
         "unit/importing/test_stored_sessions.py::test_platform_ids_are_kept_only_where_that_is_asked_and_only_apart"),
    Said("importing.md", "that damaged files are refused with a reason and leave nothing",
         "contracts/test_importers.py::test_webmushra_keeps_the_contract"),
    Said("preregistering.md", "the database refuses both",
         "unit/preregistration/test_registration.py::test_nobody_changes_an_entry_and_a_record_that_was_changed_is_seen"),
    Said("preregistering.md", "Once a person of this run has answered anything, `preregister` refuses",
         "unit/preregistration/test_folder.py::test_a_plan_after_the_first_person_is_refused_or_called_late"),
    Said("preregistering.md", "also if it was changed after the last answer",
         "unit/preregistration/test_changes.py::test_what_was_served_is_held_against_the_plan"),
    Said("study-file.md", "only `true` and `false` are booleans",
         Mistake("", "check", "contact: lab@example.org",
                 "contact: lab@example.org\nplayback: {fullscreen: yes}"), "true or false"),
    Said("study-file.md", "`single` and `multiple` need `options`",
         Mistake("", "check", "contact: lab@example.org",
                 "contact: lab@example.org\nafter: [{id: which, text: Which?, type: single}]"), "options"),
    Said("study-file.md", "An item cannot depend on a question with `correct` on its own page",
         Mistake("", "check", "contact: lab@example.org",
                 "contact: lab@example.org\nbefore:\n"
                 "  - {id: sky, text: Sky?, type: single, options: [blue, red], correct: [blue]}\n"
                 "  - {id: why, text: Why?, type: text, when: sky = blue}"), "no browser may know"),
    Said("study-file.md", "words alone; each answer needs some",
         Mistake("", "check", "scale: acr5", "scale: {min: 1, max: 3, look: radio, numbers: none}"), "no words"),
    Said("study-file.md", "links open in a new tab and may lead to `http`, `https` and `mailto` only",
         lambda: "href" not in markdown("[press](javascript:alert(1))")
         and all(f'href="{to}"' in markdown(f"[press]({to})") for to in ("https://example.org", "mailto:a@b.org"))),
    Said("study-file.md", "so that `5 * 3`, `2*3*4`, `* required` and `file_name_2` stay as they are",
         lambda: all(plain_text(text) == text for text in ("5 * 3", "2*3*4", "* required", "file_name_2"))),
    Said("study-file.md", "`flip` and `wipe` need one size in pixels for all conditions of a content",
         "unit/methods/test_views.py::test_two_in_one_place_have_one_size"),
    Said("plan.md", "Conditions that share no content cannot be compared",
         "unit/analysis/test_contrasts.py::test_conditions_without_a_common_content_are_told_but_not_tested"),
    Said("plan.md", "conditions that fall into parts that no pair joins cannot be put on one scale",
         "unit/planning/test_feasibility.py::test_parts_that_missing_files_leave_are_told_with_the_file_that_joins_them"),
    Said("power.md", "One content is always fixed: it stands for no other",
         "unit/sample_size/test_folder.py::test_one_content_is_fixed"),
    Said("deciding.md", "Gold, agreement, speed and playback may cost the use, and never the pay",
         lambda: not {rule.name for rule in rules() if rule.asks_itself}
         & {"gold", "agreement", "consistency", "speed", "ratio", "smooth", "focus"}),
    Said("deciding.md", "It is proposed only where stimuli that say themselves what to answer",
         "proofs/test_p910_batch.py::test_a_planted_failure_costs_the_pay_only_where_the_clip_said_what_to_answer"),
    Said("chains.md", "study.yaml itself can never name a folder outside its own",
         Mistake("", "check", "stimuli: stimuli", "stimuli: ../others"), "outside"),
    Said("arena.md", "one page that needs no network",
         "unit/leaderboard/test_page.py::test_the_page_needs_no_network_and_says_all_that_is_known"),
    Said("qualification.md", "the example comes again, at most `training.corrections` times (3)",
         lambda: Training.model_fields["corrections"].default == 3),
    Said("bundles.md", "What a bundle holds, and what is left out, is listed before it is written",
         "unit/bundling/test_archive_contents.py::test_what_it_would_hold_is_told_without_writing"),
    Said("bundles.md", "free text that is left out is left out of the report too",
         "unit/bundling/test_recomputation.py::test_results_need_no_store_and_leave_none"),
    Said("bundles.md", "a bundle without texts could not be computed again: it is refused",
         "unit/bundling/test_facts_files.py::test_ratings_that_are_made_of_typed_texts_are_known"),
    Said("bundles.md", "would grow beyond measure is refused before anything is unpacked",
         "unit/bundling/test_zip_files.py::test_links_doubles_and_bombs_are_refused_before_anything_is_unpacked"),
    Said("desk.md", "only changes from its own pages are taken, and another host's name is refused",
         "unit/desk/test_access_routes.py::test_another_host_and_another_origin_are_refused"),
    Said("languages.md", "A text that is missing in a language is an error of `beholder check`, with its line",
         "unit/study/test_languages.py::test_a_text_that_is_missing_in_a_language_is_an_error_with_its_line"),
    Said("languages.md", "would do so in one language only, so `check` refuses to make them",
         "unit/planning/test_message_trials.py::test_stimuli_that_ask_are_not_made_for_several_languages"),
    Said("languages.md", "For a language of the study without such sentences it is an error of `check`",
         "unit/checks/test_language.py::test_a_language_without_sentences_is_an_error_with_its_line"),
)  # fmt: skip
"""Every statement with what holds it."""

NO_STATEMENTS = (
    ("arena.md", "how all would stand without them, and what cleaning left out"),
    ("data.md", "whom its tool accepted or used"),
    ("importing-reseval.md", "accepted or rejected stands in `clean/foreign.csv`"),
    ("importing.md", "which default stands there, and why"),
    ("data.md", "every single rating was left out for its own trial"),
    ("data.md", "1 row computed from the others left out (Mean)"),
    ("data.md", "| refused |"),
    ("data.md", "reason why a session or rating is left out"),
    ("data.md", "(table, column, type, description, allowed values, keys)"),
    ("dimensions.md", "question that is left out | alpha"),
    ("dimensions.md", "what was turned, what was left out"),
    ("dimensions.md", "the same when one question is left out"),
    ("media-bucket.md", "az storage cors add"),
    ("paying.md", "a further accepted session of the same visit"),
    ("paying.md", "| `event` | for payments"),
    ("plan.md", "Allowed: 1 to"),
    ("power.md", "a pilot of ten people tells more than any default"),
    ("scaling.md", "Left out: failures, people who leave"),
    ("trust.md", "nobody is refused by itself"),
    ("trust.md", "The papers report who was left out"),
    ("trust.md", "20 of those that the server refuses"),
    ("trust.md", "requests that should be refused"),
    ("trust.md", "With no failure allowed, careless people"),
    ("trust.md", "before you refuse anybody"),
    ("trust.md", "two decisions follow for a session"),
    ("trust.md", "`accept` | with more failures"),
    ("recruiting.md", "how many met each, failed it, and were turned away by it"),
    ("troubleshooting.md", "| part | wrong or a warning |"),
    ("stimuli.md", "Encode them closer together, or accept it"),
    ("troubleshooting.md", "or accept it"),
    ("writing-a-check-with-a-page.md", "What has a default here may be left out"),
    ("writing-a-check-with-a-page.md", "where one has no default"),
    ("writing-a-method.md", "the default first"),
    ("writing-a-method.md", "yields a `Problem(where, what, allowed, fix)`"),
    ("writing-a-method.md", "raises `Refused(what, where=..., allowed=...)`"),
    ("writing-a-rule.md", "each with a description and a default"),
)
"""Sentences with such words that say nothing of the kind: what a column holds, what others report, bits of messages."""


def _rules_that_flag() -> set[object]:
    """Return the actions that rules have which say nothing about them, but for those that only record."""
    from beholder.study.checks import installed_checks

    actions = [kind.Options.model_fields.get("action") for kind in installed_checks().rules]
    return {field.default for field in actions if field is not None and field.default != "record"}


@cache
def text_of(page: str) -> str:
    """Return a page of the docs in one line, without blocks of code and without what `make docs` writes."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    text = re.sub(r"<!-- made: (?!study-keys).*?<!-- end -->", "", text, flags=re.DOTALL)
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page, and each row of a table, in one line each."""
    for part in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. |\|)", text):
        line = " ".join(part.split())
        if line.startswith("|"):
            yield line
        elif not line.startswith("#"):
            yield from re.split(r"(?<=[.!?;])\s+(?![a-z]* ?\d)", line)


@pytest.mark.parametrize("said", SAID, ids=lambda said: f"{said.page}: {said.words[:50]}")
def test_what_the_docs_say_is_so(said: Said) -> None:
    assert said.words in " ".join(text_of(said.page).split()), "the page says it no longer"
    if isinstance(said.holder, Mistake):
        assert said.told in answer(said.holder)
    elif not isinstance(said.holder, str):
        assert said.holder()
    elif "::" in said.holder:
        file, test = said.holder.split("::")
        assert test in names_in(file), "there is no such test any more"
    else:
        assert said.holder in [mistake.what for mistake in MISTAKES]


@cache
def names_in(file: str) -> set[str]:
    """Return the names of the tests of a file."""
    tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_sentence_of_this_kind_is_tied_to_a_test() -> None:
    known = [(said.page, said.words) for said in SAID] + list(NO_STATEMENTS)
    new = []
    for path in sorted((ROOT / "docs").glob("*.md")):
        if path.name in NOT_RULES or path.name.startswith("tutorial-"):  # which are run as they are written
            continue
        quoted = [words for page, words in known if page == path.name]
        text = re.sub(r"<!-- made: .*?<!-- end -->", "", text_of(path.name), flags=re.DOTALL)
        new += [
            f"{path.name}: {one}"
            for one in sentences(text)
            if CLAIM.search(one) and not any(words in one or one.rstrip(" .:;") in words for words in quoted)
        ]
    assert new == [], "tie it to a test in SAID, or say in NO_STATEMENTS that it is none"


# The pages of the methods: each says its defaults in the same words


def readme(name: str) -> str:
    folder = name.replace("-", "_")
    return (ROOT / "src" / "beholder" / "methods" / folder / "README.md").read_text("utf-8")


OURS = [name for name in names() if (ROOT / "src" / "beholder" / "methods" / name.replace("-", "_")).is_dir()]


@pytest.mark.parametrize("name", OURS)
def test_the_defaults_on_the_page_of_a_method_are_its_own(name: str) -> None:
    method, text = find(name), " ".join(readme(name).split())
    fields = method.Options.model_fields
    _, _, table = text.partition("| option | default | meaning |")
    rows = re.findall(r"\| `(\w+)` \| ([^|]*) \| ", table)[: len(fields)]
    assert {key for key, _ in rows} == set(fields)
    for key, default in rows:
        if default == "has to be written":
            assert fields[key].get_default() is None, key
        elif (name, key) not in IN_WORDS:
            assert default.strip("`") == written(fields[key].get_default(call_default_factory=True)), key
    parts = {part: keys for part, keys in method.defaults.items() if isinstance(keys, Mapping)}
    filled = {f"{part}.{key}": value for part, keys in parts.items() for key, value in keys.items()}
    said = [one for one in re.split(r"(?<=[.:])\s", text) if "when left out" in one]
    for sentence in said:
        for place, value in re.findall(r"`((?:playback|design|checks)\.\w+)` is `([\w-]+)`", sentence):
            assert written(filled[place]) == value, sentence
    if match := re.search(r"Scales?: `(\w+)`(?: \([^)]*\))? when left out((?:, `\w+`(?: \([^)]*\))?)*)", text):
        assert (match[1], *re.findall(r"`(\w+)`", match[2])) == method.scales


IN_WORDS = {("likert", "wording"), ("likert", "scenario"), ("pair", "presentation")}
"""Defaults that follow from something else: the set's own, and by medium."""


def written(value: object) -> str:
    """Return a default as the pages of methods write it."""
    if value is None or value == ():
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


REFUSED_ANSWERS = {
    "av": "test_dscqs.py::test_an_answer_needs_as_many_plays_as_the_trial_has",
    "bs1116": "test_bs1116.py::test_an_answer_without_the_highest_grade_is_refused_and_no_other_is",
    "dscqs": "test_dscqs.py::test_an_answer_needs_as_many_plays_as_the_trial_has",
    "p835": "test_dscqs.py::test_an_answer_needs_as_many_plays_as_the_trial_has",
    "word-select": "test_word_select.py::test_an_answer_that_says_both_or_nothing_is_refused",
}
"""By method whose page says that an answer is refused, the test of it; plays are counted alike for all."""


def test_what_the_pages_of_methods_say_is_refused_is_tried() -> None:
    found = {name for name in OURS if any("is refused" in one for one in sentences(readme(name)))}
    assert found == set(REFUSED_ANSWERS), "name the test that holds it in REFUSED_ANSWERS"
    for holder in REFUSED_ANSWERS.values():
        file, test = holder.split("::")
        assert test in names_in(f"unit/methods/{file}")
