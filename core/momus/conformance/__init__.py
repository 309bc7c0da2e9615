"""The conformance suite: what every critic must hold, shipped or somebody's own.

In a test file, one line:

    @momus.conformance.parametrize([MyCritic()])
    def test_conformance(check): check()

On the command line: ``momus check package.module:MyCritic``.
"""

from momus.conformance.records import Record, Report
from momus.conformance.suite import check_critic, check_names, parametrize

__all__ = ["Record", "Report", "check_critic", "check_names", "parametrize"]
