"""Verbs that use several packages.

new    a study folder with sample stimuli
check  all problems of a study, and what a session will be like
plan   the plan, and its report
serve  the server
run    a whole study, from its file to the report; run_folder: the folder of a run on other stimuli
chain  studies that follow from one another
demo   a whole study with sample stimuli and robots
"""
