"""How people reach a deployment: what Caddy is told, what a proxy is told, and what is seen from outside."""

from __future__ import annotations

from beholder.deployment.publication import look_from_outside, proxy_lines, site_of
from beholder.deployment.settings import DeploySettings
from support.server_process import free_port


def test_caddy_passes_everything_on_and_logs_nobody() -> None:
    assert site_of(DeploySettings("ada@lab", "https://study.example.org"), 8123) == (
        "https://study.example.org {\n\treverse_proxy 127.0.0.1:8123 {\n\t\tlb_try_duration 30s\n\t}\n}\n"
    )
    internal = site_of(DeploySettings("ada@lab", "https://10.0.0.7:8443", "internal"), 8123)
    assert internal.startswith("https://10.0.0.7:8443 {\n\ttls internal\n")
    numeric = site_of(DeploySettings("ada@lab", "https://192.0.2.7"), 8123)
    assert "issuer acme {\n\t\t\tprofile shortlived" in numeric
    own = DeploySettings("ada@lab", "https://192.0.2.7", acme="https://ca.example.org/dir", acme_root="/here/roots.pem")
    assert site_of(own, 8123, "/srv/ada/.beholder").startswith(
        "https://192.0.2.7 {\n\ttls {\n\t\tissuer acme {\n\t\t\tdir https://ca.example.org/dir\n"
        '\t\t\ttrusted_roots "/srv/ada/.beholder/caddy/acme-roots.pem"\n\t\t}\n\t}\n'
    )


def test_a_proxy_gets_the_lines_to_paste() -> None:
    lines = proxy_lines(DeploySettings("ada@lab", "https://study.example.org", "proxy"), 8123)
    for line in (
        "reverse_proxy 127.0.0.1:8123",
        "proxy_pass http://127.0.0.1:8123;",
        "ProxyPass / http://127.0.0.1:8123/",
    ):
        assert line in lines


def test_an_address_where_nothing_listens_is_not_reached() -> None:
    settings = DeploySettings("ada@lab", f"https://127.0.0.1:{free_port()}", "internal")
    look = look_from_outside(settings, "tiny")
    assert not look.is_reached
    assert look.words == "does not answer (Connection refused)"
