"""What the pages of the desk show, as JSON.

Each module has `async def document(study, viewer, **query)`, which changes nothing. `study` is a
`beholder.desk.desk_study.DeskStudy`; that of `studies` gets all that the viewer may see; that of `now` also gets
`snapshot`, the `MonitorSnapshot` that all who watch the study share.
"""
