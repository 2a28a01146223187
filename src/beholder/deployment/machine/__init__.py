"""What runs on the machine that is deployed to, by its own Python and nothing else.

These modules are sent as one archive (`deployment.bundle`) before anything is installed there, so they import the
standard library and each other only, and may rely on Linux.

machine_facts  what a machine is like; sent by itself, and writes nothing
places         where a deployment keeps what
installation   study, environment and Caddy, each put in place whole
tunnel         a program that holds a connection outwards, through which people come
services       what keeps a process running: systemd, or a supervisor that cron starts again
supervisor     a process that starts another one again when it ends
snapshot       a consistent copy of a store, and its counts
"""
