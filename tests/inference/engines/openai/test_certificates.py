"""What an engine for a server trusts: the authorities of the system with TLS, and nobody without."""

from __future__ import annotations

import ssl

import pytest

from inference.engines.openai.replies import make_http_client


@pytest.mark.parametrize("address", ["https://server/v1", "HTTPS://server:8000", "http://127.0.0.1:8000/v1"])
def test_certificates_are_checked_and_authorities_read_only_where_there_is_tls(address, monkeypatch):
    made: list[ssl.SSLContext] = []
    create = ssl.SSLContext.load_verify_locations
    monkeypatch.setattr(
        ssl.SSLContext,
        "load_verify_locations",
        lambda self, *given, **named: made.append(create(self, *given, **named)),
    )
    context = make_http_client(address, 1)._transport._pool._ssl_context  # type: ignore[attr-defined]
    assert context.verify_mode == ssl.CERT_REQUIRED and context.check_hostname
    assert bool(context.get_ca_certs() or made) == address.lower().startswith("https")
