"""A package, so that the browser is closed when the last of these tests is done.

While Playwright runs, no other test could run an event loop of its own.
"""
