"""The page of a plan: how often what stands where, before anybody has come.

shows    every stimulus that a plan shows, as arrays
count    a table of counts, and how far it is from even
counts   all tables of a plan
chart    a table as a heat map, a large one as bars
words    each count in a sentence
page     plan/report/: the page, its figures and tables
"""
