"""Why a broker that answers lets nobody in, told apart from one that isn't there.

Waiting helps with the second alone. A password, a mechanism or a certificate stays as wrong as it is, and a client
that tries on looks like an attack, or has the account locked.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator

from aiokafka.errors import IllegalSaslStateError, SaslAuthenticationFailed, UnsupportedSaslMechanismError

_BROKEN = (ssl.SSLEOFError, ssl.SSLZeroReturnError)
"""The connection ended inside TLS, as it does when a broker goes away."""
_OTHER_NAME = frozenset({62, 64})
"""OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH."""


def refusal(error: BaseException) -> str | None:
    """Return why the broker, or our side of TLS, refuses for good and which setting to look at; else None.

    >>> refusal(SaslAuthenticationFailed("Authentication failed: Invalid username or password"))
    'the login is refused (Authentication failed: Invalid username or password): see kafka.username and the password'
    >>> refusal(ConnectionRefusedError(111, "Connection refused")) or refusal(ssl.SSLEOFError(8, "EOF occurred"))
    """
    return next(filter(None, map(_reason, _causes(error))), None)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it came of: the client library wraps the alert that ends a connection."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _reason(error: BaseException) -> str | None:
    match error:
        case SaslAuthenticationFailed():
            said = ", ".join(str(argument) for argument in error.args if argument) or "the broker gives no reason"
            return f"the login is refused ({said}): see kafka.username and the password"
        case UnsupportedSaslMechanismError():
            return "the broker doesn't know this way to log in: see kafka.mechanism"
        case IllegalSaslStateError():
            return "no login is expected there: see kafka.security"
        case ssl.SSLCertVerificationError():
            where = "kafka.brokers" if error.verify_code in _OTHER_NAME else "kafka.ca_file"
            return f"the broker's certificate isn't trusted ({error.verify_message.rstrip('.')}): see {where}"
        case ssl.SSLError() if not isinstance(error, _BROKEN):
            reason = str(error.reason or "no reason given")
            ours = "CERTIFICATE" in reason or "UNKNOWN_CA" in reason
            what = "the client's certificate is missing or refused" if ours else "TLS fails"
            return f"{what} ({reason}): see {'kafka.cert_file' if ours else 'kafka.security'}"
    return None
