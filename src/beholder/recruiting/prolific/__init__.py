"""Recruiting through Prolific.

client       HTTP requests: retries, payments that are sent once, refusals, pagination
draft        the study as Prolific expects it, and the rules that its documentation states in prose
filters      who may see the study: filters, participant groups, earlier studies
money        bonuses, completion codes, quotes, and the account that pays
submissions  submissions and states in our terms; approve, reject, request a return
recruiter    `ProlificRecruiter`, which puts these together for the contract of a recruiter
"""
