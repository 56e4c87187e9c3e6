"""What can go wrong with a system that one does not own.

```
toa.Transient
|- NoAnswer       nothing came, or too late, or the connection broke, or it said to come again: it may have been done
|- BadAnswer      something came that cannot be believed: nothing is taken from it
toa.ToaError
|- NotTaken       the request as it is will never be taken: somebody has to look
```
"""

from __future__ import annotations

from toa import ToaError, Transient


class NoAnswer(Transient):
    """No answer; whether what was asked for was done is not known."""


class BadAnswer(Transient):
    """An answer that does not hold."""


class NotTaken(ToaError):
    """The other side refused the request itself: credentials, address or content are wrong."""
