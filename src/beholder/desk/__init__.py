"""The researcher's desk: pages in the browser that show a study while people are at it, and do what commands do.

`app`         the HTTP application: routes, headers, who may reach what
`viewer`      who looks at the desk, and what they may do
`desk_study`  the studies on a desk, each with its store
`logins`      one-time links and sessions of browsers
`documents/`  what the pages show, as JSON: functions of a study and its viewer
`web/`        the browser's half
"""
