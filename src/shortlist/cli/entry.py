"""Entry point of the command: signals are handled before imports, as a signal may come during an import."""

import atexit
import signal

from shortlist.cli.signals import NOTHING_WRITTEN, end_at_once, set_handler


def run() -> None:
    """Run the command `shortlist`; Ctrl-C and SIGTERM end it with exit code 130 and a sentence."""
    set_handler(end_at_once(NOTHING_WRITTEN))
    atexit.register(set_handler, signal.SIG_IGN)  # Python itself would end by the signal from here on
    from shortlist.cli import main

    try:
        main.run_command()
    except KeyboardInterrupt:  # between two handlers
        end_at_once(NOTHING_WRITTEN)(signal.SIGINT, None)
