"""``python -m reticent`` is the ``reticent`` command."""

from reticent.cli.main import run

if __name__ == "__main__":
    run()
