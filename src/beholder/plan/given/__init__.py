"""A plan that the researcher gives as a table: list, position, slot, stimulus.

pages      the table as pages, or every line that is wrong
fitting    whether the method can show these pages
composing  the pages as trials, taken as they are
sheet      any plan as such a table
"""
