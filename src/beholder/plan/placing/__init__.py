"""What the rules of a study put into its lists, after everything that is rated has been dealt.

clips       which stimuli are made to ask for an answer, and load_stimuli, which makes them
asking      which answers a page can be asked for, and in which words
amounts     how many checks each list holds
unfit       why a rule cannot be kept
placer      all of these: lists in, lists with checks out
attention   on pages with many stimuli: which page, in place of which stimulus
inserting   trials of their own: where in a list
extras      which trials those are: stimuli that ask, and gold
repeating   trials that come again
statements  obvious and repeated statements on the pages of a survey
leveling    one of several for each of many, evenly
lots        things that are drawn equally often
"""
