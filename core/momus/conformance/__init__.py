"""Conformance checks: requirements on every critic, shipped or third-party.

In a test file:

    @momus.conformance.parametrize([MyCritic()])
    def test_conformance(check): check()

On the command line: ``momus critics check package.module:MyCritic``.
"""

from momus.conformance.subject import Record, Report
from momus.conformance.suite import SLOW, check_critic, check_names, parametrize

__all__ = ["SLOW", "Record", "Report", "check_critic", "check_names", "parametrize"]
